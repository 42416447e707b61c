//! The inverted index of one collection.

use super::IndexError;
use std::collections::BTreeSet;
use std::path::Path;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, WhitespaceTokenizer};
use tantivy::{Index, IndexWriter, TantivyDocument, TantivyError, Term};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::library::page::Page;
use tribunal_core::library::words::words;

const ANALYZER: &str = "words";
/// Of one writer, before it writes a segment.
const MEMORY: usize = 50_000_000;
/// A word of the title says more than one of the text.
const TITLE: f32 = 1.5;

pub struct Collection {
    index: Index,
    fields: Fields,
    analyzer: TextAnalyzer,
}

#[derive(Clone, Copy)]
struct Fields {
    source: Field,
    hash: Field,
    title: Field,
    text: Field,
    /// The page itself, as JSON.
    page: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexed = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexed);
    let fields = Fields {
        source: schema.add_text_field("source", STRING),
        hash: schema.add_text_field("hash", STRING),
        title: schema.add_text_field("title", text.clone()),
        text: schema.add_text_field("text", text),
        page: schema.add_text_field("page", STORED),
    };
    (schema.build(), fields)
}

/// What makes a page the same page: where it is from, and what it says.
pub fn hash(page: &Page) -> String {
    let text = format!("{}\0{}\0{}\0{}\0{}", page.source, page.line, page.title, page.in_force, page.text);
    sha256_hex(text.as_bytes())[..32].to_owned()
}

impl Collection {
    pub fn create(folder: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        Ok(Self::of(Index::create_in_dir(folder, schema)?, fields))
    }

    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        let index = Index::open_in_dir(folder)?;
        if index.schema() != schema {
            return Err(TantivyError::SchemaError("it is of another version".into()).into());
        }
        Ok(Self::of(index, fields))
    }

    fn of(index: Index, fields: Fields) -> Self {
        let analyzer = TextAnalyzer::builder(WhitespaceTokenizer::default()).filter(Stemmer::new(Language::English)).build();
        index.tokenizers().register(ANALYZER, analyzer.clone());
        Self { index, fields, analyzer }
    }

    /// One at a time, over all processes.
    pub fn writer(&self) -> Result<IndexWriter, IndexError> {
        self.index.writer_with_num_threads(1, MEMORY).map_err(busy)
    }

    /// Takes out everything of these sources and puts the pages in, at once.
    pub fn replace<'a>(&self, sources: &[&str], pages: impl Iterator<Item = &'a Page>) -> Result<(), IndexError> {
        let mut writer = self.writer()?;
        for source in sources {
            writer.delete_term(Term::from_field_text(self.fields.source, source));
        }
        for page in pages {
            let mut document = TantivyDocument::default();
            document.add_text(self.fields.source, &page.source);
            document.add_text(self.fields.hash, hash(page));
            document.add_text(self.fields.title, words(&format!("{} {} {}", page.name, page.title, page.section)).join(" "));
            document.add_text(self.fields.text, words(&page.text).join(" "));
            document.add_text(self.fields.page, serde_json::to_string(page).unwrap_or_default());
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    /// Pages with any of these words, best first.
    pub fn search(&self, words: &[String], limit: usize) -> Result<Vec<(f32, Page)>, IndexError> {
        let stems = self.stems(words.iter().map(String::as_str));
        let term = |field: Field, stem: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(field, stem), IndexRecordOption::WithFreqs))
        };
        let clauses: Vec<(Occur, Box<dyn Query>)> = stems
            .iter()
            .flat_map(|stem| {
                let title: Box<dyn Query> = Box::new(BoostQuery::new(term(self.fields.title, stem), TITLE));
                [(Occur::Should, term(self.fields.text, stem)), (Occur::Should, title)]
            })
            .collect();
        if clauses.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.index.reader()?.searcher();
        let found = searcher.search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score())?;
        let mut pages = Vec::new();
        for (score, address) in found {
            pages.extend(self.page(&searcher.doc(address)?).map(|page| (score, page)));
        }
        Ok(pages)
    }

    pub fn by_hash(&self, hashes: &[String]) -> Result<Vec<(String, Page)>, IndexError> {
        let searcher = self.index.reader()?.searcher();
        let mut pages = Vec::new();
        for hash in hashes {
            let query = TermQuery::new(Term::from_field_text(self.fields.hash, hash), IndexRecordOption::Basic);
            let found = searcher.search(&query, &TopDocs::with_limit(1).order_by_score())?;
            for (_, address) in found {
                pages.extend(self.page(&searcher.doc(address)?).map(|page| (hash.clone(), page)));
            }
        }
        Ok(pages)
    }

    fn page(&self, document: &TantivyDocument) -> Option<Page> {
        serde_json::from_str(document.get_first(self.fields.page)?.as_str()?).ok()
    }

    /// Which of the words stand in the page, in whatever form.
    pub fn shared(&self, asked: &[String], page: &Page) -> Vec<String> {
        let inside: BTreeSet<String> =
            self.stems(words(&format!("{} {} {} {}", page.name, page.title, page.section, page.text)).iter().map(String::as_str));
        let is_inside =
            |word: &&String| self.stems(std::iter::once(String::as_str(word))).iter().any(|stem| inside.contains(stem));
        asked.iter().filter(is_inside).cloned().collect()
    }

    fn stems<'a>(&self, words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let text = words.collect::<Vec<_>>().join(" ");
        let mut analyzer = self.analyzer.clone();
        let mut stream = analyzer.token_stream(&text);
        let mut stems = BTreeSet::new();
        stream.process(&mut |token| {
            stems.insert(token.text.clone());
        });
        stems
    }
}

fn busy(error: TantivyError) -> IndexError {
    match error {
        TantivyError::LockFailure(..) => IndexError::Busy,
        other => other.into(),
    }
}
