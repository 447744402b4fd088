//! What a browser connects to: the page, meshes and runs over HTTP, and the WebSocket behind them
//! on the same port.
//!
//! A page of another site must not reach the robot through the user's browser. So the names by
//! which this server is called, and the sites from which WebSockets are opened, are checked.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardstand_error::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Duration, timeout};

use crate::page::PAGE;
use crate::tls::Tls;

/// Where a page is served, and to whom.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// User and password that a browser must give. Needed beyond this machine.
    pub password: Option<(String, String)>,
    /// Further sites whose pages may connect, for instance `https://app.foxglove.dev`.
    pub origins: Vec<String>,
    /// Certificate and key (PEM) for https.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Answers a `GET` of what is not the page: content type and bytes.
pub(crate) type Files = Arc<dyn Fn(&str) -> Option<(&'static str, Vec<u8>)> + Send + Sync>;

/// A connection, with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// The WebSocket server behind the door.
pub(crate) struct Behind {
    /// Its port on this machine.
    pub(crate) port: u16,
    /// What each connection begins with; see [`Pages`](crate::pages::Pages).
    pub(crate) introduction: Vec<u8>,
}

/// The open door.
pub(crate) struct FrontDoor {
    listener: TcpListener,
    settings: ServeSettings,
    files: Files,
    /// The WebSocket on this machine; none for a log.
    socket: Option<Behind>,
    tls: Option<Tls>,
}

/// Longest head of a request, bytes.
const HEAD_MAX: usize = 16 << 10;
/// Time for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Header lines of a request.
const LINES_MAX: usize = 100;

impl FrontDoor {
    /// Opens the port.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] for an address beyond this machine without a password;
    /// [`ErrorKind::File`] if the port cannot be opened.
    pub(crate) async fn open(
        settings: ServeSettings,
        files: Files,
        socket: Option<Behind>,
    ) -> Result<Self> {
        let listen = settings.listen;
        if !listen.ip().is_loopback() && settings.password.is_none() {
            let text = format!(
                "--listen {listen} can be reached from other machines; give --page-user and \
                 --page-password-file, or listen on 127.0.0.1"
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        let files_of = settings.certificate.as_ref();
        let tls = files_of.map(|(certificate, key)| Tls::read(certificate, key)).transpose()?;
        let listener = TcpListener::bind(listen).await.map_err(|e| {
            let text = format!("--listen {listen}: {e}; choose another port, 0 for a free one");
            Error::new(ErrorKind::File, text)
        })?;
        Ok(Self { listener, settings, files, socket, tls })
    }

    /// What a browser is to open.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.listener.local_addr().unwrap_or(self.settings.listen))
    }

    /// Serves until the task is dropped.
    pub(crate) async fn serve(self) {
        let door = Arc::new(self);
        loop {
            let Ok((stream, _)) = door.listener.accept().await else {
                // out of file descriptors: some close again
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let door = Arc::clone(&door);
            // a browser that goes away is no error
            tokio::spawn(async move { drop(door.let_in(stream).await) });
        }
    }

    async fn let_in(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let Some(tls) = &self.tls else { return self.attend(stream).await };
        match timeout(HEAD_WITHIN, tls.accept(stream)).await {
            Ok(stream) => self.attend(stream?).await,
            Err(_elapsed) => Ok(()),
        }
    }

    async fn attend(&self, mut stream: impl Stream) -> std::io::Result<()> {
        let Ok(head) = timeout(HEAD_WITHIN, read_head(&mut stream)).await else { return Ok(()) };
        let head = head?;
        let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
        let mut request = httparse::Request::new(&mut lines);
        if !matches!(request.parse(&head), Ok(httparse::Status::Complete(_))) {
            return answer(&mut stream, "400 Bad Request", "text/plain", b"bad request").await;
        }
        let value = |name: &str| {
            let found = request.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
            found.and_then(|h| std::str::from_utf8(h.value).ok())
        };
        if let Some((status, text)) = self.refusal(value("host"), value("origin")) {
            return answer(&mut stream, status, "text/plain", text.as_bytes()).await;
        }
        if !self.knows(value("authorization")) {
            let status = "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"hardstand\"";
            return answer(&mut stream, status, "text/plain", b"user and password, please").await;
        }
        let upgrades = value("upgrade").is_some_and(|v| v.eq_ignore_ascii_case("websocket"));
        match (upgrades, &self.socket) {
            (true, Some(behind)) => pass_on(stream, behind, &head).await,
            (true, None) => {
                let text = b"this is a log: there is nothing live to connect to";
                answer(&mut stream, "404 Not Found", "text/plain", text).await
            }
            (false, _) => self.get(&mut stream, request.method, request.path).await,
        }
    }

    /// Why a request is refused that came for the name `host` from a page of `origin`.
    fn refusal(&self, host: Option<&str>, origin: Option<&str>) -> Option<(&'static str, String)> {
        let host = host.unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host }
        });
        let name = name.trim_matches(['[', ']']);
        let by_address = name.parse::<IpAddr>().is_ok();
        if !by_address && name != "localhost" {
            let text = format!("call this server by its address, not as {name:?}");
            return Some(("421 Misdirected Request", text));
        }
        let site = origin?;
        let own = [format!("http://{host}"), format!("https://{host}")];
        let known =
            own.iter().any(|o| o == site) || self.settings.origins.iter().any(|o| o == site);
        (!known).then(|| {
            let text = format!("pages of {site} may not connect; --allow-origin {site} allows it");
            ("403 Forbidden", text)
        })
    }

    /// True if no password is needed, or it was given.
    fn knows(&self, authorization: Option<&str>) -> bool {
        let Some((user, password)) = &self.settings.password else { return true };
        let given = authorization.and_then(|a| a.strip_prefix("Basic "));
        let given = given.and_then(|a| STANDARD.decode(a).ok()).unwrap_or_default();
        let wanted = format!("{user}:{password}");
        // all bytes are looked at, so the time says nothing about how many are right
        let differing = given.iter().zip(wanted.as_bytes()).fold(0, |d, (a, b)| d | (a ^ b));
        given.len() == wanted.len() && differing == 0
    }

    async fn get(
        &self,
        stream: &mut impl Stream,
        method: Option<&str>,
        path: Option<&str>,
    ) -> std::io::Result<()> {
        if method != Some("GET") {
            let status = "405 Method Not Allowed";
            return answer(stream, status, "text/plain", b"only GET").await;
        }
        let path = path.unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
        if path.is_empty() || path == "index.html" {
            return answer(stream, "200 OK", "text/html; charset=utf-8", PAGE.as_bytes()).await;
        }
        match (self.files)(path) {
            Some((kind, bytes)) => answer(stream, "200 OK", kind, &bytes).await,
            // what may be there or not is no error for a browser
            None if path.starts_with("run") => answer(stream, "204 No Content", "", b"").await,
            None => answer(stream, "404 Not Found", "text/plain", b"not here").await,
        }
    }
}

async fn read_head(stream: &mut impl Stream) -> std::io::Result<Vec<u8>> {
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let n = stream.read(&mut buffer).await?;
        if n == 0 || head.len() + n > HEAD_MAX {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&buffer[..n]);
    }
    Ok(head)
}

async fn answer(
    stream: &mut impl Stream,
    status: &str,
    kind: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         \r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

/// Connects a browser with the WebSocket behind.
async fn pass_on(mut stream: impl Stream, to: &Behind, head: &[u8]) -> std::io::Result<()> {
    let mut behind = TcpStream::connect(("127.0.0.1", to.port)).await?;
    behind.set_nodelay(true)?;
    behind.write_all(head).await?;
    let answer = read_head(&mut behind).await?;
    if answer.starts_with(b"HTTP/1.1 101") {
        behind.write_all(&to.introduction).await?;
    }
    stream.write_all(&answer).await?;
    copy_bidirectional(&mut stream, &mut behind).await.map(|_bytes| ())
}

/// Serves the page with one recorded run, or two laid over each other, until `stop` says so.
///
/// # Errors
/// As for a port that cannot be opened.
pub fn serve_run(
    runs: Vec<Vec<u8>>,
    settings: ServeSettings,
    ready: impl FnOnce(&str),
    stop: impl Fn() -> bool,
) -> Result<()> {
    let files: Files = Arc::new(move |path| {
        let number = ["run", "run2"].iter().position(|name| *name == path)?;
        Some(("application/octet-stream", runs.get(number)?.clone()))
    });
    runtime()?.block_on(async {
        let door = FrontDoor::open(settings, files, None).await?;
        ready(&door.url());
        let serving = tokio::spawn(door.serve());
        while !stop() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        serving.abort();
        Ok(())
    })
}

/// Two threads for all connections.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .thread_name("view")
        .build()
        .map_err(|e| Error::new(ErrorKind::Internal, format!("threads of the viewer: {e}")))
}
