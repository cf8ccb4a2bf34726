//! What a script may use, and how a run ends that does not end well.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one run may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of the script's heap.
    pub memory: usize,
    /// Processor time.
    pub cpu: Duration,
    /// Time from the start to the result, calls included.
    pub wall: Duration,
    /// Bytes of summary and evidence together.
    pub output: usize,
    /// Bytes of all lines of the log together, one for the end of each included.
    pub log: usize,
    /// Calls of the host in all.
    pub calls: u32,
    /// Bytes of one call's argument.
    pub message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            cpu: Duration::from_secs(5),
            wall: Duration::from_secs(30),
            output: 1 << 20,
            log: 256 << 10,
            calls: 100,
            message: 1 << 20,
        }
    }
}

impl Limits {
    /// The end of a run that went beyond a limit.
    pub(crate) fn exceeded(&self, code: Code) -> Failure {
        let message = match code {
            Code::WallTimeLimit => format!("The script took more than {}.", time(self.wall)),
            Code::CpuTimeLimit => format!("The script used more than {} of processor time.", time(self.cpu)),
            Code::MemoryLimit => format!("The script used more than {} of memory.", size(self.memory)),
            Code::StackLimit => "The script called functions more deeply than the stack allows.".to_owned(),
            Code::OutputLimit => {
                format!("The script returned more than {} of summary and evidence.", size(self.output))
            }
            Code::LogLimit => format!("The script logged more than {}.", size(self.log)),
            Code::CallLimit => {
                format!("The script made more than {} calls (fetch, secret, dns, tls).", self.calls)
            }
            Code::MessageLimit => {
                format!(
                    "The script passed more than {} to one call (fetch, secret, dns, tls).",
                    size(self.message)
                )
            }
            _ => "The script was stopped.".to_owned(),
        };
        Failure { code, message }
    }

    /// No honest message of a child is larger: a character takes at most six bytes in JSON.
    pub(crate) fn frame(&self) -> usize {
        const ROOM: usize = 64 << 10;
        6 * self.output.max(self.log).max(self.message) + ROOM
    }
}

fn time(duration: Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{} s", duration.as_secs()),
        _ => format!("{} ms", duration.as_millis()),
    }
}

fn size(bytes: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match bytes {
        MIB.. if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        KIB.. if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} bytes"),
    }
}

/// Why a run has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The script threw, or is not JavaScript.
    ScriptError,
    /// It returned something else than a result.
    BadResult,
    /// It waits for something that cannot happen.
    NeverSettles,
    WallTimeLimit,
    CpuTimeLimit,
    MemoryLimit,
    StackLimit,
    OutputLimit,
    LogLimit,
    CallLimit,
    MessageLimit,
    /// Its process tried what no script can ask for.
    Confinement,
    /// It was not the script's fault.
    Unavailable,
}

impl Code {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ScriptError => "script_error",
            Self::BadResult => "bad_result",
            Self::NeverSettles => "never_settles",
            Self::WallTimeLimit => "wall_time_limit",
            Self::CpuTimeLimit => "cpu_time_limit",
            Self::MemoryLimit => "memory_limit",
            Self::StackLimit => "stack_limit",
            Self::OutputLimit => "output_limit",
            Self::LogLimit => "log_limit",
            Self::CallLimit => "call_limit",
            Self::MessageLimit => "message_limit",
            Self::Confinement => "confinement",
            Self::Unavailable => "unavailable",
        }
    }
}

impl Code {
    /// Whether a script went beyond a limit.
    pub(crate) fn is_limit(self) -> bool {
        use Code::{CallLimit, CpuTimeLimit, LogLimit, MemoryLimit, MessageLimit, OutputLimit, StackLimit};
        matches!(
            self,
            CallLimit | CpuTimeLimit | LogLimit | MemoryLimit | MessageLimit | OutputLimit | StackLimit
        )
    }

    /// Whether a script is wrong.
    pub(crate) fn is_of_the_script(self) -> bool {
        matches!(self, Self::ScriptError | Self::BadResult | Self::NeverSettles)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of a run without an outcome, told to the author of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

impl Failure {
    pub(crate) fn unavailable(message: &str) -> Self {
        Self { code: Code::Unavailable, message: message.to_owned() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}
