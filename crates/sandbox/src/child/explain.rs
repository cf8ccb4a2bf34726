//! Turns engine errors into messages for the script's author, with the position in the script.

use rquickjs::{CaughtError, Ctx, Error, Object, Value};

use super::engine::NAME;
use super::room::MemoryMeter;
use crate::wire::mend;
use crate::{Code, Mistake};

/// The maximum number of bytes of an error message that are shown.
const MESSAGE: usize = 2 << 10;

const OUT_OF_MEMORY: &str = "InternalError: out of memory";

/// The end of a run without an outcome.
#[derive(Debug)]
pub(super) enum End {
    Exceeded(Code),
    Failed(Code, String),
}

impl End {
    pub(super) fn of(mistake: &Mistake) -> Self {
        let place = match (mistake.line, mistake.column) {
            (Some(line), Some(column)) => format!(" ({NAME}:{line}:{column})"),
            _ => String::new(),
        };
        Self::Failed(Code::ScriptError, format!("{}{place}", mistake.message))
    }
}

/// Describes an exception.
pub(super) fn end(ctx: &Ctx<'_>, room: &MemoryMeter, source: &str, error: Error) -> End {
    let mistake = mistake(ctx, room, source, error);
    match mistake.message.as_str() {
        OUT_OF_MEMORY => End::Exceeded(Code::MemoryLimit),
        "RangeError: Maximum call stack size exceeded" => End::Exceeded(Code::StackLimit),
        _ => End::of(&mistake),
    }
}

pub(super) fn mistake(ctx: &Ctx<'_>, room: &MemoryMeter, source: &str, error: Error) -> Mistake {
    match CaughtError::from_error(ctx, error) {
        CaughtError::Exception(exception) => {
            let field = |name| field(ctx, exception.as_object(), name).unwrap_or_default();
            let (name, message, stack) = (field("name"), field("message"), field("stack"));
            let message = match (name.as_str(), message.as_str()) {
                (_, message) if message.starts_with("could not load module") => {
                    format!("A script cannot import other modules: {message}")
                }
                ("", message) => message.to_owned(),
                (name, "") => name.to_owned(),
                (name, message) => format!("{name}: {message}"),
            };
            let place = place(&stack, source);
            let (line, column) = place.unzip();
            Mistake { message: short(&message, MESSAGE).to_owned(), line, column }
        }
        CaughtError::Value(value) => {
            if value.is_null() && room.was_full() {
                return without_place(OUT_OF_MEMORY.to_owned());
            }
            let thrown = text(ctx, &value).or_else(|| json(ctx, value.clone())).unwrap_or_default();
            without_place(format!("The script threw {}, which is not an Error.", short(&thrown, MESSAGE)))
        }
        CaughtError::Error(Error::Allocation | Error::Unknown) => without_place(OUT_OF_MEMORY.to_owned()),
        CaughtError::Error(_) => without_place("The engine could not go on.".to_owned()),
    }
}

fn without_place(message: String) -> Mistake {
    Mistake { message, line: None, column: None }
}

/// Rejects a source with a NUL, which the engine does not accept.
pub(super) fn nul(source: &str) -> Option<Mistake> {
    let at = source.find('\0')?;
    let line = source[..at].split('\n').count();
    let column = source[..at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some(Mistake {
        message: "SyntaxError: a NUL character".to_owned(),
        line: u32::try_from(line).ok(),
        column: u32::try_from(column).ok(),
    })
}

/// The first position in the script that a stack trace names: line, and column in characters.
fn place(stack: &str, source: &str) -> Option<(u32, u32)> {
    let mut numbers = stack.split_once(NAME)?.1.strip_prefix(':')?.split(|c: char| !c.is_ascii_digit());
    let line: u32 = numbers.next()?.parse().ok()?;
    let bytes: usize = numbers.next()?.parse().ok()?;
    let text = source.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    // The engine counts columns in bytes.
    let before = &text[..text.floor_char_boundary(bytes.saturating_sub(1))];
    Some((line, u32::try_from(before.chars().count()).ok()? + 1))
}

/// Returns a field of an error, which the script may have replaced.
fn field<'js>(ctx: &Ctx<'js>, error: &Object<'js>, name: &str) -> Option<String> {
    match error.get::<_, Value>(name) {
        Ok(value) => text(ctx, &value),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// Returns the text of a string, with lone surrogates replaced.
pub(super) fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Option<String> {
    value.as_string()?;
    serde_json::from_str(&json(ctx, value.clone())?).ok()
}

fn json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Option<String> {
    match ctx.json_stringify(value).and_then(|json| json.map(|json| json.to_string()).transpose()) {
        Ok(json) => json.map(|json| mend(&json)),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// Truncates a text to a number of bytes.
pub(super) fn short(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters() {
        let source = "let a = 1;\nlet é = '😀'; nope();";
        assert_eq!(place("    at f (sandbox:3:4)\n    at automation.js:2:19\n", source), Some((2, 15)));
        assert_eq!(place("    at f (sandbox:3:4)", source), None);
        assert_eq!(place("automation.js", source), None);
        assert_eq!(place("automation.js:9:1", source), None);
        assert_eq!(place("automation.js:0:0", source), None);
        assert_eq!(place("automation.js:1:4294967296", source), Some((1, 11)));
    }

    #[test]
    fn a_nul_is_found() {
        assert_eq!(nul("fine"), None);
        let mistake = nul("a\nbé\0").expect("it is there");
        assert_eq!((mistake.line, mistake.column), (Some(2), Some(3)));
    }
}
