//! Servers for tests: a web server, a name server, a certificate authority.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use attestry_domain::automations::hosts::AllowedHosts;
use attestry_egress::{Egress, Refusal, Request, Response, Settings};
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::CNAME;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// An address that counts as public. No data is ever sent to it, because a detour replaces it.
pub(crate) const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));
/// Another public address.
pub(crate) const PUBLIC_TOO: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 15));

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// The reaction of a web server to a request.
pub(crate) enum Reply {
    /// Writes these bytes and closes.
    Close(Vec<u8>),
    /// Writes these bytes and waits until the client closes.
    Wait(Vec<u8>),
    /// Writes the first bytes once, then the second ones repeatedly.
    Repeat(Vec<u8>, Vec<u8>),
}

/// A complete response.
pub(crate) fn ok(body: &str) -> Reply {
    Reply::Close(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

pub(crate) fn raw(answer: &str) -> Reply {
    Reply::Close(answer.as_bytes().to_vec())
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    raw(&format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {location}\r\ncontent-length: 4\r\n\r\ngone"))
}

type Answering = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

/// A web server. It records its requests and stops on drop.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl Web {
    pub(crate) async fn plain(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(None, Arc::new(answer)).await
    }

    pub(crate) async fn encrypted(
        identity: Identity,
        answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(identity.chain, identity.key)
            .expect("an identity");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self::start(Some(TlsAcceptor::from(Arc::new(config))), Arc::new(answer)).await
    }

    async fn start(tls: Option<TlsAcceptor>, answer: Answering) -> Self {
        let listener = TcpListener::bind(HERE).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, answer, kept) = (tls.clone(), Arc::clone(&answer), Arc::clone(&kept));
                connections.spawn(async move {
                    match tls {
                        None => serve(stream, answer, kept).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => serve(stream, answer, kept).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Self { address, requests, _task: task }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far, verbatim.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("requests").clone()
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    answer: Answering,
    kept: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let request = read_request(&mut stream).await?;
    kept.lock().ok()?.push(request.clone());
    match answer(&request) {
        Reply::Close(bytes) => stream.write_all(&bytes).await.ok()?,
        Reply::Wait(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            stream.flush().await.ok()?;
            stream.read_u8().await.ok()?;
        }
        Reply::Repeat(first, then) => {
            stream.write_all(&first).await.ok()?;
            while stream.write_all(&then).await.is_ok() {}
        }
    }
    stream.shutdown().await.ok()
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text);
            }
        }
        request.push(stream.read_u8().await.ok()?);
    }
}

/// A certificate chain and its key.
pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// The certificate authority that the tests trust.
static AUTHORITY: LazyLock<(CertificateDer<'static>, Issuer<'static, KeyPair>)> =
    LazyLock::new(|| authority("Trusted Tests"));

fn authority(name: &str) -> (CertificateDer<'static>, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate").der().clone();
    (certificate, Issuer::new(params, key))
}

/// The parameters of a certificate for these names.
pub(crate) fn wish(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names.clone()).expect("names");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, names.first().cloned().unwrap_or_default());
    params.distinguished_name.push(DnType::OrganizationName, "Example");
    params
}

/// A certificate issued by the trusted authority.
pub(crate) fn issued(params: &CertificateParams) -> Identity {
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &AUTHORITY.1).expect("a certificate");
    Identity {
        chain: vec![certificate.der().clone(), AUTHORITY.0.clone()],
        key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
    }
}

/// A self-signed certificate.
pub(crate) fn self_signed(params: &CertificateParams) -> Identity {
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    Identity {
        chain: vec![certificate.der().clone()],
        key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
    }
}

/// A certificate issued by an unknown authority.
pub(crate) fn strange(params: &CertificateParams) -> Identity {
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &authority("Nobody Knows").1).expect("a certificate");
    Identity {
        chain: vec![certificate.der().clone()],
        key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
    }
}

/// The response of a name server.
pub(crate) enum DnsReply {
    Records(Vec<RData>),
    /// The name is an alias: the response includes its target's records.
    Alias(&'static str, Vec<RData>),
    Code(ResponseCode),
    Nothing,
}

pub(crate) fn addresses(addresses: &[&str], kind: RecordType) -> DnsReply {
    let addresses = addresses.iter().map(|address| address.parse::<IpAddr>().expect("an address"));
    let records = addresses.filter(|address| address.is_ipv4() == (kind == RecordType::A)).map(RData::from);
    DnsReply::Records(records.collect())
}

type Saying = Arc<dyn Fn(&str, RecordType) -> DnsReply + Send + Sync>;

/// A name server on UDP and TCP. Responses too large for a datagram are sent over TCP.
pub(crate) struct Names {
    pub(crate) address: SocketAddr,
    questions: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl Names {
    /// Starts a server. `say` gets the name without its final dot.
    pub(crate) async fn start(say: impl Fn(&str, RecordType) -> DnsReply + Send + Sync + 'static) -> Self {
        let (udp, tcp) = loop {
            let tcp = TcpListener::bind(HERE).await.expect("a port");
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().expect("an address")).await {
                break (udp, tcp);
            }
        };
        let address = udp.local_addr().expect("an address");
        let questions = Arc::new(Mutex::new(Vec::new()));
        let say: Saying = Arc::new(say);
        let (kept, saying) = (Arc::clone(&questions), Arc::clone(&say));
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok((length, from)) = udp.recv_from(&mut buffer).await {
                if let Some(answer) = answer(&buffer[..length], &saying, &kept, 1232) {
                    let _ = udp.send_to(&answer, from).await;
                }
            }
        });
        let kept = Arc::clone(&questions);
        task.spawn(async move {
            while let Ok((mut stream, _)) = tcp.accept().await {
                while let Ok(length) = stream.read_u16().await {
                    let mut question = vec![0; usize::from(length)];
                    if stream.read_exact(&mut question).await.is_err() {
                        break;
                    }
                    let Some(answer) = answer(&question, &say, &kept, 65_535) else { break };
                    let _ = stream.write_u16(u16::try_from(answer.len()).expect("a length")).await;
                    let _ = stream.write_all(&answer).await;
                }
            }
        });
        Self { address, questions, _task: task }
    }

    /// Resolves all names to this machine.
    pub(crate) async fn here() -> Self {
        Self::start(|_, kind| addresses(&["127.0.0.1"], kind)).await
    }

    /// Resolves all names to `PUBLIC`.
    pub(crate) async fn public() -> Self {
        Self::start(|_, kind| addresses(&[&PUBLIC.to_string()], kind)).await
    }

    /// The queries so far, such as `A example.com`.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.questions.lock().expect("questions").clone()
    }
}

fn answer(question: &[u8], say: &Saying, kept: &Mutex<Vec<String>>, limit: usize) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).ok()?;
    let query = question.queries.first()?.clone();
    let name = query.name().to_ascii().to_ascii_lowercase();
    let name = name.trim_end_matches('.');
    kept.lock().ok()?.push(format!("{} {name}", query.query_type()));
    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
    answer.add_query(query.clone());
    match say(name, query.query_type()) {
        DnsReply::Nothing => return None,
        DnsReply::Code(code) => answer.metadata.response_code = code,
        DnsReply::Records(records) => {
            for data in records {
                answer.add_answer(Record::from_rdata(query.name().clone(), 60, data));
            }
        }
        DnsReply::Alias(target, records) => {
            let target = Name::from_ascii(target).ok()?;
            let alias = RData::CNAME(CNAME(target.clone()));
            answer.add_answer(Record::from_rdata(query.name().clone(), 60, alias));
            for data in records {
                answer.add_answer(Record::from_rdata(target.clone(), 60, data));
            }
        }
    }
    let bytes = answer.to_vec().ok()?;
    if bytes.len() > limit { answer.truncate().to_vec().ok() } else { Some(bytes) }
}

/// The default settings, with this name server and the tests' certificate authority.
pub(crate) fn settings(names: &Names) -> Settings {
    Settings {
        dns_servers: vec![names.address],
        extra_roots: vec![AUTHORITY.0.clone()],
        timeout: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// A client that may reach this machine.
pub(crate) fn open(names: &Names) -> Egress {
    Egress::new(Settings { allow_private_networks: true, ..settings(names) }).expect("settings")
}

/// A client that may reach public addresses, some of which are redirected to these local servers.
pub(crate) fn detoured(names: &Names, detours: &[(IpAddr, u16, &Web)]) -> Egress {
    let detours: HashMap<_, _> =
        detours.iter().map(|(address, port, web)| (SocketAddr::new(*address, *port), web.address)).collect();
    Egress::with_detours(settings(names), detours).expect("settings")
}

pub(crate) fn hosts(entries: &[&str]) -> AllowedHosts {
    AllowedHosts::parse(entries).expect("hosts")
}

pub(crate) fn get(url: &str) -> Request {
    Request { url: url.to_owned(), method: "GET".to_owned(), headers: Vec::new(), body: None }
}

/// Fetches from a plain web server on this machine as `web.example.com`.
pub(crate) async fn fetch_from(web: &Web) -> Result<Response, Refusal> {
    let names = Names::here().await;
    let host = format!("http://web.example.com:{}", web.port());
    open(&names).fetch(&hosts(&[&host]), get(&host)).await
}
