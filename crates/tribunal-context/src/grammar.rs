//! One tree-sitter grammar per [`Language`], behind ast-grep's language trait.
//!
//! ast-grep ships all of them but SQL, so this enum is a thin envelope around its own with SQL added.

use ast_grep_core::language::Language as AstLanguage;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_language::SupportLang;
use std::borrow::Cow;
use tribunal_core::diff::language::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grammar {
    Shipped(SupportLang),
    Sql,
}

impl From<Language> for Grammar {
    fn from(language: Language) -> Self {
        Grammar::Shipped(match language {
            Language::Bash => SupportLang::Bash,
            Language::C => SupportLang::C,
            Language::Cpp => SupportLang::Cpp,
            Language::CSharp => SupportLang::CSharp,
            Language::Go => SupportLang::Go,
            Language::Java => SupportLang::Java,
            Language::JavaScript => SupportLang::JavaScript,
            Language::Kotlin => SupportLang::Kotlin,
            Language::Php => SupportLang::Php,
            Language::Python => SupportLang::Python,
            Language::Ruby => SupportLang::Ruby,
            Language::Rust => SupportLang::Rust,
            Language::Tsx => SupportLang::Tsx,
            Language::TypeScript => SupportLang::TypeScript,
            Language::Sql => return Grammar::Sql,
        })
    }
}

/// A character SQL takes in an identifier, standing in for `$` while a pattern is parsed.
const SQL_EXPANDO: char = 'µ';

impl AstLanguage for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        match self {
            Grammar::Shipped(shipped) => shipped.pre_process_pattern(query),
            Grammar::Sql => Cow::Owned(query.replace('$', &SQL_EXPANDO.to_string())),
        }
    }

    fn meta_var_char(&self) -> char {
        match self {
            Grammar::Shipped(shipped) => shipped.meta_var_char(),
            Grammar::Sql => '$',
        }
    }

    fn expando_char(&self) -> char {
        match self {
            Grammar::Shipped(shipped) => shipped.expando_char(),
            Grammar::Sql => SQL_EXPANDO,
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.get_ts_language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.get_ts_language().field_id_for_name(field).map(|id| id.get())
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        match self {
            Grammar::Shipped(shipped) => shipped.get_ts_language(),
            Grammar::Sql => tree_sitter_sequel::LANGUAGE.into(),
        }
    }
}
