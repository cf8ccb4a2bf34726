//! Native functions of the prelude. Bytes are passed as base64, because a script could change a buffer while it is
//! read.

#![expect(clippy::needless_pass_by_value, reason = "the engine hands over what it passes")]

use std::cell::Cell;

use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{Engine as _, alphabet};
use rquickjs::function::IntoJsFunc;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Promise, Result};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{engine, pipe, query};
use crate::wire::Up;
use crate::{Code, Limits};

/// Base64 as decoded by browsers.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The functions by their names in the prelude.
pub(super) fn functions<'js>(ctx: &Ctx<'js>, limits: &Limits) -> Result<Object<'js>> {
    let functions = Object::new(ctx.clone())?;
    add(ctx, &functions, "call", calls(limits.message))?;
    add(ctx, &functions, "log", log(limits.log))?;
    add(ctx, &functions, "encode", encode)?;
    add(ctx, &functions, "decode", decode)?;
    add(ctx, &functions, "atob", atob)?;
    add(ctx, &functions, "btoa", btoa)?;
    add(ctx, &functions, "digest", digest)?;
    add(ctx, &functions, "number", numbers())?;
    add(ctx, &functions, "random", random)?;
    add(ctx, &functions, "url", query::url)?;
    add(ctx, &functions, "urlWith", query::url_with)?;
    add(ctx, &functions, "parseQuery", query::parse)?;
    add(ctx, &functions, "formatQuery", query::format)?;
    Ok(functions)
}

fn add<'js, P>(
    ctx: &Ctx<'js>,
    functions: &Object<'js>,
    name: &str,
    function: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    functions.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)
}

/// Returns the function that sends a call to the host.
fn calls(most: usize) -> impl for<'js> Fn(Ctx<'js>, String, String) -> Result<Promise<'js>> {
    let last = Cell::new(0);
    move |ctx, operation, argument| {
        if argument.len() > most {
            pipe::exceeded(Code::MessageLimit);
        }
        let argument = RawValue::from_string(argument)
            .map_err(|_| Exception::throw_type(&ctx, "The argument is not JSON"))?;
        let number = last.get() + 1;
        last.set(number);
        let promise = engine::wait(&ctx, number)?;
        pipe::send(&Up::Call(number, operation, argument));
        Ok(promise)
    }
}

fn log(most: usize) -> impl Fn(String) {
    let logged = Cell::new(0_usize);
    move |line| {
        logged.set(logged.get() + line.len() + 1);
        if logged.get() > most {
            pipe::exceeded(Code::LogLimit);
        }
        pipe::send(&Up::Log(line));
    }
}

/// Encodes a text as UTF-8.
fn encode(ctx: Ctx<'_>, text: String) -> Result<ArrayBuffer<'_>> {
    ArrayBuffer::new_copy(ctx, text.as_bytes())
}

/// Decodes UTF-8; in strict mode, `None` if the bytes are invalid.
fn decode(ctx: Ctx<'_>, bytes: String, strictly: bool) -> Result<Option<String>> {
    let bytes = given(&ctx, &bytes)?;
    Ok(match strictly {
        true => String::from_utf8(bytes).ok(),
        false => Some(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

fn given(ctx: &Ctx<'_>, bytes: &str) -> Result<Vec<u8>> {
    STANDARD.decode(bytes).map_err(|_| Exception::throw_type(ctx, "The bytes are not base64"))
}

/// Decodes base64 to a string with one character per byte.
fn atob(text: String) -> Option<String> {
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some(FORGIVING.decode(text).ok()?.into_iter().map(char::from).collect())
}

fn btoa(text: String) -> Option<String> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    Some(STANDARD.encode(bytes?))
}

/// Hashes bytes; `None` if the algorithm is unknown.
fn digest(ctx: Ctx<'_>, name: String, bytes: String) -> Result<Option<ArrayBuffer<'_>>> {
    let bytes = given(&ctx, &bytes)?;
    let digest = match name.as_str() {
        "SHA-256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" => Sha512::digest(bytes).to_vec(),
        _ => return Ok(None),
    };
    ArrayBuffer::new_copy(ctx, digest).map(Some)
}

fn random(ctx: Ctx<'_>, length: u16) -> Result<ArrayBuffer<'_>> {
    let mut bytes = vec![0; usize::from(length)];
    getrandom::fill(&mut bytes).map_err(|_| Exception::throw_message(&ctx, "There is no randomness"))?;
    ArrayBuffer::new_copy(ctx, bytes)
}

/// Returns the generator of `Math.random`, Vigna's xorshift64*. The engine's own would start with the same number in
/// every process forked from one template.
fn numbers() -> impl for<'js> Fn(Ctx<'js>) -> Result<f64> {
    let last = Cell::new(0_u64);
    move |ctx| {
        let mut next = last.get();
        while next == 0 {
            next = getrandom::u64().map_err(|_| Exception::throw_message(&ctx, "There is no randomness"))?;
        }
        next ^= next >> 12;
        next ^= next << 25;
        next ^= next >> 27;
        last.set(next);
        // The upper 53 bits, the precision of a double.
        let bits = next.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let high = u32::try_from(bits >> 32).unwrap_or_default();
        let low = u32::try_from(bits & 0xffff_ffff).unwrap_or_default() >> 11;
        Ok((f64::from(high) + f64::from(low) / f64::from(1 << 21)) / f64::from(1 << 16) / f64::from(1 << 16))
    }
}
