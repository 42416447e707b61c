//! Tables: aligned columns on a terminal and in a pipe alike.

use comfy_table::{ContentArrangement, Table, presets};
use tribunal_core::publish::visible::visible_line;

pub fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(headings.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| visible_line(cell)));
    }
    table.to_string().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
