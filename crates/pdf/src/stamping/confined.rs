//! Inspection and stamping in confined processes, which know nothing but the file and the label.

use std::time::Duration;

use attestry_sandbox::{CallError, ConfinedFunction, FunctionLimits, Settings, serve_function};
use memchr::memchr;
use serde::{Deserialize, Serialize};

use super::{Inspected, Label, Unreadable, inspect, with_label};

/// Inspects and stamps uploaded PDFs, each in a process of its own.
#[derive(Clone, Debug)]
pub struct Stamper {
    function: ConfinedFunction,
}

/// The command that starts the processes, and their limits.
#[derive(Clone, Debug)]
pub struct StamperSettings(pub Settings<FunctionLimits>);

impl Default for StamperSettings {
    fn default() -> Self {
        let limits = FunctionLimits {
            // A parsed value takes 120 bytes, and as few as two in the file.
            memory: 1 << 30,
            cpu: Duration::from_secs(10),
            wall: Duration::from_secs(30),
            output: 128 << 20,
        };
        Self(Settings::of_command("pdf-child", limits))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StamperError {
    /// The caller must supply another file. A file that makes its process exceed a limit or crash is too complex.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// No process could be started, or confined.
    #[error("there is no confined process that reads PDFs")]
    Unavailable,
}

/// The first line of a process's input. The file follows.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    Inspect,
    /// The label's text, and the length of its PDF, which comes before the file.
    Stamp(String, usize),
}

/// The first line of a process's output.
#[derive(Debug, Serialize, Deserialize)]
enum Response {
    Inspected(Inspected),
    /// The stamped file follows.
    Stamped,
    Rejected(Unreadable),
}

impl Stamper {
    pub fn new(StamperSettings(settings): StamperSettings) -> Self {
        Self { function: ConfinedFunction::new(settings) }
    }

    /// Checks that the file is a PDF that can be stamped and has no active content.
    pub async fn inspect(&self, file: &[u8]) -> Result<Inspected, StamperError> {
        match self.call(&Request::Inspect, &[], file).await? {
            (Response::Inspected(inspected), _) => Ok(inspected),
            (Response::Rejected(reason), _) => Err(reason.into()),
            (Response::Stamped, _) => Err(Unreadable::TooComplex.into()),
        }
    }

    /// Returns the file with the label on each page. A label without text has no visible effect.
    pub async fn stamp(&self, file: &[u8], label: &Label) -> Result<Vec<u8>, StamperError> {
        let request = Request::Stamp(label.text.clone(), label.pdf.len());
        match self.call(&request, &label.pdf, file).await? {
            (Response::Stamped, file) => Ok(file),
            (Response::Rejected(reason), _) => Err(reason.into()),
            (Response::Inspected(_), _) => Err(Unreadable::TooComplex.into()),
        }
    }

    async fn call(
        &self,
        request: &Request,
        label: &[u8],
        file: &[u8],
    ) -> Result<(Response, Vec<u8>), StamperError> {
        let mut output = match self.function.call(&[&line(request), label, file]).await {
            Ok(output) => output,
            Err(CallError::Unavailable) => return Err(StamperError::Unavailable),
            Err(error) => {
                tracing::warn!(?error, "a PDF could not be read within the limits of its process");
                return Err(Unreadable::TooComplex.into());
            }
        };
        let (response, start) = parse(&output).ok_or(Unreadable::TooComplex)?;
        output.drain(..start);
        Ok((response, output))
    }
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Texts and numbers can always be serialized.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Parses the first line. Also returns the offset behind it.
fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<(T, usize)> {
    let end = memchr(b'\n', bytes)?;
    Some((serde_json::from_slice(bytes.get(..end)?).ok()?, end + 1))
}

/// The command that [`Stamper`] starts. Must be called before there are threads or open files.
pub fn stamping_child() -> ! {
    serve_function(|input| match respond(input) {
        Ok((response, file)) => [line(&response), file].concat(),
        Err(reason) => line(&Response::Rejected(reason)),
    })
}

fn respond(input: &[u8]) -> Result<(Response, Vec<u8>), Unreadable> {
    let (request, start) = parse(input).ok_or(Unreadable::TooComplex)?;
    let data = input.get(start..).unwrap_or_default();
    match request {
        Request::Inspect => inspect(data).map(|inspected| (Response::Inspected(inspected), Vec::new())),
        Request::Stamp(text, length) => {
            let (pdf, file) = data.split_at_checked(length).ok_or(Unreadable::TooComplex)?;
            let file = with_label(file, &Label { text, pdf: pdf.into() })?;
            Ok((Response::Stamped, file))
        }
    }
}
