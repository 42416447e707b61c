//! The inverted index of one collection.

use super::IndexError;
use std::collections::BTreeSet;
use std::path::Path;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, WhitespaceTokenizer};
use tantivy::{DocAddress, DocSet as _, Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term};
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

/// A page, and where the index has it.
pub struct Placed {
    pub page: Page,
    pub at: DocAddress,
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

    /// What it holds now. Who asks again later asks for another one.
    pub fn searcher(&self) -> Result<Searcher, IndexError> {
        // Nobody waits for what others write meanwhile, so no thread has to.
        let reader = self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(reader.searcher())
    }

    /// Another one whenever any page has come or gone.
    pub fn state(&self) -> Result<String, IndexError> {
        let metas = serde_json::to_vec(&self.index.load_metas()?).map_err(std::io::Error::from)?;
        Ok(sha256_hex(&metas))
    }

    /// Pages with any of these words, best first.
    pub fn search(&self, searcher: &Searcher, words: &[String], limit: usize) -> Result<Vec<(f32, Placed)>, IndexError> {
        let stems: BTreeSet<String> = self.stems(words).into_iter().collect();
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
        let found = searcher.search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score())?;
        let mut pages = Vec::new();
        for (score, address) in found {
            pages.extend(self.page(searcher, address)?.map(|page| (score, page)));
        }
        Ok(pages)
    }

    pub fn by_hash(&self, searcher: &Searcher, hashes: &[String]) -> Result<Vec<(String, Placed)>, IndexError> {
        let mut pages = Vec::new();
        for hash in hashes {
            let query = TermQuery::new(Term::from_field_text(self.fields.hash, hash), IndexRecordOption::Basic);
            let found = searcher.search(&query, &TopDocs::with_limit(1).order_by_score())?;
            for (_, address) in found {
                pages.extend(self.page(searcher, address)?.map(|page| (hash.clone(), page)));
            }
        }
        Ok(pages)
    }

    fn page(&self, searcher: &Searcher, at: DocAddress) -> Result<Option<Placed>, IndexError> {
        let document: TantivyDocument = searcher.doc(at)?;
        let text = document.get_first(self.fields.page).and_then(|value| value.as_str());
        Ok(text.and_then(|text| serde_json::from_str(text).ok()).map(|page| Placed { page, at }))
    }

    /// Which of the words stand in the page, in whatever form. The index knows; the page is not taken apart again.
    pub fn shared(&self, searcher: &Searcher, asked: &[String], at: DocAddress) -> Result<Vec<String>, IndexError> {
        let segment = searcher.segment_reader(at.segment_ord);
        let (title, text) = (segment.inverted_index(self.fields.title)?, segment.inverted_index(self.fields.text)?);
        let mut shared = Vec::new();
        for (word, stem) in asked.iter().zip(self.stems(asked)) {
            for (field, inverted) in [(self.fields.title, &title), (self.fields.text, &text)] {
                let postings = inverted.read_postings(&Term::from_field_text(field, &stem), IndexRecordOption::Basic)?;
                if postings.is_some_and(|mut postings| postings.doc() <= at.doc_id && postings.seek(at.doc_id) == at.doc_id) {
                    shared.push(word.clone());
                    break;
                }
            }
        }
        Ok(shared)
    }

    /// One for each word, which has no spaces in it.
    fn stems(&self, words: &[String]) -> Vec<String> {
        let text = words.join(" ");
        let mut analyzer = self.analyzer.clone();
        let mut stems = Vec::new();
        analyzer.token_stream(&text).process(&mut |token| stems.push(token.text.clone()));
        stems
    }
}

fn busy(error: TantivyError) -> IndexError {
    match error {
        TantivyError::LockFailure(..) => IndexError::Busy,
        other => other.into(),
    }
}
