//! Lists in pages, with a `Link` header as GitHub, GitLab, Gitea and Forgejo all write it.

use crate::wire::Request;

pub struct Paged<T> {
    pub items: Vec<T>,
    /// The value of the `Link` header; nothing when all is on one page.
    pub link: Option<String>,
    pub page: usize,
    pub pages: usize,
    pub per_page: usize,
    pub total: usize,
}

/// Cuts out the page that was asked for. `size_names` are the query's words for the size of a page (`per_page`, `limit`).
pub fn page<T>(items: Vec<T>, request: &Request, base_url: &str, size_names: &[&str], default: usize, max: usize) -> Paged<T> {
    let number = |name: &str| request.query_value(name).and_then(|text| text.parse::<usize>().ok());
    let per_page = size_names.iter().find_map(|name| number(name)).unwrap_or(default).clamp(1, max);
    let page = number("page").unwrap_or(1).max(1);
    let total = items.len();
    let pages = total.div_ceil(per_page).max(1);
    let address = |to: usize| {
        let mut query: Vec<String> = request
            .query_pairs()
            .into_iter()
            .filter(|(name, _)| name != "page")
            .map(|(name, value)| format!("{}={}", crate::wire::encode(&name), crate::wire::encode(&value)))
            .collect();
        query.push(format!("page={to}"));
        format!("{base_url}{}?{}", request.path, query.join("&"))
    };
    let mut links = Vec::new();
    if page > 1 {
        links.push(format!("<{}>; rel=\"prev\"", address(page - 1)));
        links.push(format!("<{}>; rel=\"first\"", address(1)));
    }
    if page < pages {
        links.push(format!("<{}>; rel=\"next\"", address(page + 1)));
        links.push(format!("<{}>; rel=\"last\"", address(pages)));
    }
    let items = items.into_iter().skip((page - 1) * per_page).take(per_page).collect();
    Paged { items, link: (!links.is_empty()).then(|| links.join(", ")), page, pages, per_page, total }
}
