//! The page over https.

#[cfg(feature = "tls")]
pub(crate) use with::Tls;
#[cfg(not(feature = "tls"))]
pub(crate) use without::Tls;

#[cfg(feature = "tls")]
mod with {
    use std::path::Path;
    use std::sync::Arc;

    use hardstand_client::secrets::{read_secret, unreadable};
    use hardstand_error::{Error, ErrorKind, Result};
    use tokio::net::TcpStream;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio_rustls::server::TlsStream;

    /// What proves to a browser that it is connected with this server.
    pub(crate) struct Tls(TlsAcceptor);

    impl Tls {
        /// Reads certificate and key (PEM).
        ///
        /// # Errors
        /// [`ErrorKind::File`] and [`ErrorKind::Input`] as [`read_secret`], or if the files do not
        /// belong together.
        pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self> {
            let refused = |path: &Path, why: &dyn std::fmt::Display| {
                Error::new(ErrorKind::Input, format!("{}: {why}", path.display()))
            };
            let text = std::fs::read(certificate)
                .map_err(|e| unreadable("--page-certificate", certificate, &e))?;
            let chain =
                CertificateDer::pem_slice_iter(&text).collect::<std::result::Result<_, _>>();
            let chain: Vec<_> = chain.map_err(|e| refused(certificate, &e))?;
            let secret = read_secret("--page-key", key)?;
            let secret =
                PrivateKeyDer::from_pem_slice(secret.as_bytes()).map_err(|e| refused(key, &e))?;
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map(|config| config.with_no_client_auth())
                .and_then(|config| config.with_single_cert(chain, secret))
                .map_err(|e| refused(certificate, &e))?;
            Ok(Self(TlsAcceptor::from(Arc::new(config))))
        }

        pub(crate) async fn accept(
            &self,
            stream: TcpStream,
        ) -> std::io::Result<TlsStream<TcpStream>> {
            self.0.accept(stream).await
        }
    }
}

#[cfg(not(feature = "tls"))]
mod without {
    use std::path::Path;

    use hardstand_error::{Error, ErrorKind, Result};
    use tokio::net::TcpStream;

    /// There is none in this build.
    pub(crate) enum Tls {}

    impl Tls {
        /// # Errors
        /// Always.
        pub(crate) fn read(_certificate: &Path, _key: &Path) -> Result<Self> {
            let text = "--page-certificate: this program was built without TLS; build it with \
                        --features tls";
            Err(Error::new(ErrorKind::Input, text))
        }

        pub(crate) async fn accept(&self, _stream: TcpStream) -> std::io::Result<TcpStream> {
            match *self {}
        }
    }
}
