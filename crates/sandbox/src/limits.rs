//! Limits of child processes, and the failures of scripts.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of a child process that the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of memory.
    pub memory: usize,
    /// CPU time, rounded up to seconds.
    pub cpu: Duration,
}

/// The limits of one call of a [`ConfinedFunction`](crate::ConfinedFunction).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionLimits {
    /// Bytes of memory.
    pub memory: usize,
    /// CPU time, rounded up to seconds.
    pub cpu: Duration,
    /// Time from input to output.
    pub wall: Duration,
    /// Bytes of output.
    pub output: usize,
}

impl FunctionLimits {
    pub(crate) fn process(&self) -> ProcessLimits {
        ProcessLimits { memory: self.memory, cpu: self.cpu }
    }
}

/// The limits of one run of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of the script's heap.
    pub memory: usize,
    /// CPU time.
    pub cpu: Duration,
    /// Time from start to result, including calls.
    pub wall: Duration,
    /// Bytes of summary and evidence together.
    pub output: usize,
    /// Bytes of all log lines together, including one per line end.
    pub log: usize,
    /// The total number of calls to the host.
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
    pub fn process(&self) -> ProcessLimits {
        ProcessLimits { memory: self.memory, cpu: self.cpu }
    }

    /// The failure of a run that exceeded a limit.
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

    /// The maximum size of a valid message of a child: a character takes at most six bytes in JSON.
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

/// The reason why a run has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The script threw an exception, or is not valid JavaScript.
    ScriptError,
    /// It returned something other than a result.
    BadResult,
    /// It waits for a promise that cannot be settled.
    NeverSettles,
    WallTimeLimit,
    CpuTimeLimit,
    MemoryLimit,
    StackLimit,
    OutputLimit,
    LogLimit,
    CallLimit,
    MessageLimit,
    /// Its process attempted something the sandbox does not allow.
    Confinement,
    /// The cause is not the script.
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
    /// Returns true if a limit was exceeded.
    pub(crate) fn is_limit(self) -> bool {
        use Code::{CallLimit, CpuTimeLimit, LogLimit, MemoryLimit, MessageLimit, OutputLimit, StackLimit};
        matches!(
            self,
            CallLimit | CpuTimeLimit | LogLimit | MemoryLimit | MessageLimit | OutputLimit | StackLimit
        )
    }

    /// Returns true if the script is faulty.
    pub(crate) fn is_of_the_script(self) -> bool {
        matches!(self, Self::ScriptError | Self::BadResult | Self::NeverSettles)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of a run without an outcome, with a message for the script's author.
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
