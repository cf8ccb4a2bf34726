//! Sends one message. By default it is written to an `.eml` file in the data folder, which any mail client opens;
//! with an SMTP URL it is sent. Queueing and retries are the caller's job.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lettre::message::header::{ContentTransferEncoding, ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::AsyncSmtpTransport;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncTransport, Tokio1Executor};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

/// The time limit for sending one message by SMTP.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A message to one person, in plain text and HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The display name of the sender; empty for the default.
    #[serde(default)]
    pub from_name: String,
    /// Stays the same on a retry, so that a mail client shows the message once.
    pub id: String,
    pub to_name: String,
    pub to_address: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The URL for one-click unsubscribing from messages of this kind (RFC 8058).
    #[serde(default)]
    pub unsubscribe: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A retry may succeed.
    #[error("{0}")]
    Temporary(String),
    /// The address or the message is permanently rejected.
    #[error("{0}")]
    Permanent(String),
}

/// Sends messages through one transport.
#[derive(Clone, Debug)]
pub struct Mailer {
    from: Mailbox,
    transport: Transport,
}

#[derive(Clone, Debug)]
enum Transport {
    Folder(PathBuf),
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Memory(Sent),
}

/// The messages that a memory mailer has accepted. For tests.
#[derive(Clone, Debug, Default)]
pub struct Sent(Arc<Mutex<Vec<Message>>>);

impl Sent {
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The maximum line length of RFC 5322.
const MAX_LINE_BYTES: usize = 998;

/// Encodes text. A file contains it verbatim, so that a link can be read and copied; over SMTP, non-ASCII text is in
/// base64, because not every server accepts 8-bit data.
fn part(kind: ContentType, text: &str, for_a_file: bool) -> SinglePart {
    let builder = SinglePart::builder().header(kind);
    let is_short = text.lines().all(|line| line.len() <= MAX_LINE_BYTES);
    let as_it_is = |encoding| {
        let lines: Vec<&str> = text.lines().collect();
        Body::dangerous_pre_encoded(lines.join("\r\n").into_bytes(), encoding)
    };
    match (for_a_file && is_short, text.is_ascii()) {
        (true, true) => builder.body(as_it_is(ContentTransferEncoding::SevenBit)),
        (true, false) => builder.body(as_it_is(ContentTransferEncoding::EightBit)),
        (false, true) => builder.body(text.to_owned()),
        (false, false) => builder.header(ContentTransferEncoding::Base64).body(text.to_owned()),
    }
}

/// Replaces control characters, because a header is one line.
fn in_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Defines a header with a fixed name.
macro_rules! header {
    ($(#[$meta:meta])* $type:ident $name:literal = $value:expr) => {
        impl Header for $type {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Err("it is only written".into())
            }

            fn display(&self) -> HeaderValue {
                let value: fn(&Self) -> String = $value;
                // A long link is not folded: mail clients do not join it again.
                HeaderValue::dangerous_new_pre_encoded(Self::name(), value(self), value(self))
            }
        }
    };
}

/// Marks the message as automatic, so that no auto-reply is sent (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

#[derive(Clone)]
struct ListUnsubscribe(String);

#[derive(Clone)]
struct ListUnsubscribePost;

header!(AutoSubmitted "Auto-Submitted" = |_| "auto-generated".to_owned());
header!(ListUnsubscribe "List-Unsubscribe" = |own| own.0.clone());
header!(ListUnsubscribePost "List-Unsubscribe-Post" = |_| "List-Unsubscribe=One-Click".to_owned());

/// Reads the sender: `Attestry <attestry@example.com>` or an address alone.
fn sender(from: &str) -> Result<Mailbox, String> {
    from.parse().map_err(|error| {
        format!("{from:?} is not a sender such as \"Attestry <attestry@example.com>\": {error}")
    })
}

impl Mailer {
    /// Writes each message into a folder.
    pub fn folder(folder: PathBuf, from: &str) -> Result<Self, String> {
        Ok(Self { from: sender(from)?, transport: Transport::Folder(folder) })
    }

    /// Sends by SMTP: `smtps://user:password@host` (TLS), `smtp://…?tls=required` (STARTTLS) or
    /// `smtp://…` (plain, for a relay on this machine).
    pub fn smtp(url: &str, from: &str) -> Result<Self, String> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|error| format!("the SMTP address is not understood: {error}"))?
            .timeout(Some(TIMEOUT))
            .build();
        Ok(Self { from: sender(from)?, transport: Transport::Smtp(transport) })
    }

    /// Creates an SMTP mailer that also trusts the certificate in a file, for a private relay.
    pub fn smtp_trusting(url: &str, from: &str, certificate: &str) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{certificate}: {error}");
        let pem = std::fs::read(certificate).map_err(|error| wrong(&error))?;
        let authority = Certificate::from_pem(&pem).map_err(|error| wrong(&error))?;
        let host =
            url.rsplit('@').next().and_then(|rest| rest.split(['/', ':', '?']).next()).unwrap_or_default();
        let tls = TlsParameters::builder(host.to_owned())
            .add_root_certificate(authority)
            .build()
            .map_err(|error| wrong(&error))?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|error| format!("the SMTP address is not understood: {error}"))?
            .tls(if url.starts_with("smtps:") { Tls::Wrapper(tls) } else { Tls::Required(tls) })
            .timeout(Some(TIMEOUT))
            .build();
        Ok(Self { from: sender(from)?, transport: Transport::Smtp(transport) })
    }

    /// Creates a mailer that stores messages in memory. For tests.
    pub fn memory(from: &str) -> Result<(Self, Sent), String> {
        let sent = Sent::default();
        Ok((Self { from: sender(from)?, transport: Transport::Memory(sent.clone()) }, sent))
    }

    /// Returns true when messages are only written to files and not delivered.
    pub fn is_folder(&self) -> bool {
        matches!(self.transport, Transport::Folder(_))
    }

    /// Describes the transport for the operator.
    pub fn describe(&self) -> String {
        match &self.transport {
            Transport::Folder(folder) => format!("files in {}", folder.display()),
            Transport::Smtp(_) => "SMTP".to_owned(),
            Transport::Memory(_) => "memory".to_owned(),
        }
    }

    /// Checks that the transport is ready to send.
    pub async fn check(&self) -> Result<(), String> {
        match &self.transport {
            Transport::Folder(folder) => tokio::fs::create_dir_all(folder)
                .await
                .map_err(|error| format!("{}: {error}", folder.display())),
            Transport::Smtp(transport) => match transport.test_connection().await {
                Ok(true) => Ok(()),
                Ok(false) => Err("the SMTP server does not answer".to_owned()),
                Err(error) => Err(format!("the SMTP server cannot be reached: {error}")),
            },
            Transport::Memory(_) => Ok(()),
        }
    }

    pub async fn send(&self, message: &Message) -> Result<(), Error> {
        let mail = self.compose(message)?;
        match &self.transport {
            Transport::Folder(folder) => {
                let path = folder.join(format!("{}.eml", message.id));
                let temporary =
                    |error: std::io::Error| Error::Temporary(format!("{}: {error}", path.display()));
                tokio::fs::create_dir_all(folder).await.map_err(temporary)?;
                // The message may contain a link with a token: only the owner may read it.
                let mut options = tokio::fs::OpenOptions::new();
                let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path).await;
                let mut file = file.map_err(temporary)?;
                file.write_all(&mail.formatted()).await.map_err(temporary)?;
                file.sync_all().await.map_err(temporary)?;
                tracing::info!(path = %path.display(), "mail written");
                Ok(())
            }
            // The transport's own timeout covers only the connection.
            Transport::Smtp(transport) => match tokio::time::timeout(TIMEOUT, transport.send(mail)).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) if error.is_permanent() => Err(Error::Permanent(error.to_string())),
                Ok(Err(error)) => Err(Error::Temporary(error.to_string())),
                Err(_) => Err(Error::Temporary("the SMTP server did not answer in time".to_owned())),
            },
            Transport::Memory(sent) => {
                sent.0.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
                Ok(())
            }
        }
    }

    /// Returns the sender with the display name of the message. The address does not change: it is the one that mail
    /// servers trust.
    fn sender_of(&self, message: &Message) -> Mailbox {
        let own = self.from.name.as_deref().unwrap_or_default();
        let name = match (in_one_line(&message.from_name), own) {
            (name, _) if name.is_empty() => return self.from.clone(),
            (name, "") => name,
            (name, own) => format!("{name} via {own}"),
        };
        Mailbox::new(Some(name), self.from.email.clone())
    }

    fn compose(&self, message: &Message) -> Result<lettre::Message, Error> {
        let wrong = |error: &dyn std::fmt::Display| Error::Permanent(error.to_string());
        let address = message.to_address.parse().map_err(|error| wrong(&error))?;
        let name = Some(in_one_line(&message.to_name)).filter(|name| !name.is_empty());
        let for_a_file = self.is_folder();
        let mut builder = lettre::Message::builder();
        if let Some(link) = &message.unsubscribe {
            builder = builder.header(ListUnsubscribe(format!("<{link}>"))).header(ListUnsubscribePost);
        }
        builder
            .header(AutoSubmitted)
            .from(self.sender_of(message))
            .to(Mailbox::new(name, address))
            .subject(in_one_line(&message.subject))
            .message_id(Some(format!("<{}@{}>", message.id, self.from.email.domain())))
            .multipart(
                MultiPart::alternative()
                    .singlepart(part(ContentType::TEXT_PLAIN, &message.text, for_a_file))
                    .singlepart(part(ContentType::TEXT_HTML, &message.html, for_a_file)),
            )
            .map_err(|error| wrong(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Message {
        Message {
            from_name: String::new(),
            id: "m".to_owned(),
            to_name: String::new(),
            to_address: "ada@example.com".to_owned(),
            subject: "Hello".to_owned(),
            text: "Hello".to_owned(),
            html: "<p>Hello".to_owned(),
            unsubscribe: None,
        }
    }

    #[test]
    fn a_message_names_whom_it_is_from() {
        let (mailer, _) = Mailer::memory("Attestry <attestry@example.com>").unwrap();
        let mut message = Message { from_name: "Acme\r\nBcc: eve@example.com".to_owned(), ..hello() };
        let from = |message: &Message| {
            let sent = String::from_utf8(mailer.compose(message).unwrap().formatted()).unwrap();
            sent.lines().find(|line| line.starts_with("From: ")).unwrap().to_owned()
        };
        assert!(!from(&message).contains("eve@") && from(&message).ends_with(" <attestry@example.com>"));
        message.from_name = "Acme".to_owned();
        assert!(from(&message).contains("Acme via Attestry"), "{}", from(&message));
        message.from_name = String::new();
        assert_eq!(from(&message), "From: Attestry <attestry@example.com>");
    }

    #[test]
    fn mail_programs_are_told_what_it_is() {
        let (mailer, _) = Mailer::memory("Attestry <attestry@example.com>").unwrap();
        let link = format!("https://attestry.example.com/unsubscribe?token={}", "x".repeat(200));
        let mut message = hello();
        let written =
            |message: &Message| String::from_utf8(mailer.compose(message).unwrap().formatted()).unwrap();
        let plain = written(&message);
        assert!(plain.contains("Auto-Submitted: auto-generated\r\n") && !plain.contains("List-"), "{plain}");
        message.unsubscribe = Some(link.clone());
        let list = written(&message);
        assert!(list.contains(&format!("List-Unsubscribe: <{link}>\r\n")), "{list}");
        assert!(list.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{list}");
    }

    #[test]
    fn a_link_in_a_file_can_be_copied() {
        let link = format!("https://attestry.example.com/accept-invitation?token={}", "x".repeat(43));
        for text in [format!("Open this:\n{link}\n"), format!("Öffnen:\n{link}\n")] {
            let written = part(ContentType::TEXT_PLAIN, &text, true).formatted();
            let written = String::from_utf8(written).unwrap();
            assert!(written.contains(&link), "{written}");
            assert!(written.contains(text.lines().next().unwrap()));
        }
        let long = part(ContentType::TEXT_PLAIN, &"y".repeat(2000), true).formatted();
        assert!(String::from_utf8(long).unwrap().lines().all(|line| line.len() <= MAX_LINE_BYTES));
    }
}
