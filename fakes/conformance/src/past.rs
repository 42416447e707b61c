//! Past our own clients: requests that they would never send.

/// A client for loopback. Whoever makes the first one in a process has to name the provider of its cryptography.
pub fn plain_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}
