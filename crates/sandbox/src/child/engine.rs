//! Runs the script in the engine.

use std::cell::RefCell;
use std::collections::HashMap;

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Module, Object, Persistent, Promise, Type, Value};
use serde_json::value::RawValue;

use super::explain::{self, End};
use super::room::MemoryMeter;
use super::{native, pipe};
use crate::wire::{Down, Up};
use crate::{Code, Limits, Mistake, Outcome, Verdict};

/// The name of the script in its errors.
pub(super) const NAME: &str = "automation.js";

const PRELUDE: &str = include_str!("prelude.js");

const NO_DEFAULT: &str =
    "The script must export a function as its default: export default async function (ctx) { … }";

thread_local! {
    /// Pending calls: the functions that resolve and reject their promises.
    static WAITING: RefCell<HashMap<u32, [Persistent<Function<'static>>; 2]>> = RefCell::default();
}

/// Registers a pending call.
pub(super) fn wait<'js>(ctx: &Ctx<'js>, number: u32) -> rquickjs::Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    let ways = [Persistent::save(ctx, resolve), Persistent::save(ctx, reject)];
    WAITING.with_borrow_mut(|waiting| waiting.insert(number, ways));
    Ok(promise)
}

pub(super) struct Engine<'js> {
    ctx: Ctx<'js>,
    /// The object that the prelude returns, with `begin`, `context` and `start`.
    prelude: Object<'js>,
    limits: Limits,
    room: MemoryMeter,
}

impl<'js> Engine<'js> {
    pub(super) fn new(ctx: Ctx<'js>, limits: &Limits) -> rquickjs::Result<Self> {
        let mut options = EvalOptions::default();
        options.filename = Some("sandbox".to_owned());
        let prelude: Function = ctx.eval_with_options(PRELUDE, options)?;
        let prelude = prelude.call((native::functions(&ctx, limits)?,))?;
        Ok(Self { ctx, prelude, limits: limits.clone(), room: MemoryMeter::new(limits.memory) })
    }

    /// Marks the start of the script; memory used so far is not counted.
    pub(super) fn begin(&self) -> rquickjs::Result<()> {
        self.room.start();
        self.prelude.get::<_, Function>("begin")?.call(())
    }

    pub(super) fn run(&self, source: &str, context: &str) -> Up {
        match self.outcome(source, context) {
            Ok(outcome) => Up::Done(outcome),
            Err(End::Exceeded(code)) => Up::Exceeded(code),
            Err(End::Failed(code, message)) => Up::Failed(code, message),
        }
    }

    fn outcome(&self, source: &str, context: &str) -> Result<Outcome, End> {
        let explained = |error| explain::end(&self.ctx, &self.room, source, error);
        if let Some(mistake) = explain::nul(source) {
            return Err(End::of(&mistake));
        }
        let module = Module::declare(self.ctx.clone(), NAME, source).map_err(explained)?;
        let (module, loaded) = module.eval().map_err(explained)?;
        self.settle(source, &loaded)?;
        let Some(main) = module.get::<_, Value>("default").ok().and_then(Value::into_function) else {
            self.ctx.catch();
            return Err(End::Failed(Code::BadResult, NO_DEFAULT.to_owned()));
        };
        let returned: Promise = self.start(main, context).map_err(explained)?;
        let returned = self.settle(source, &returned)?;
        self.read(source, &returned)
    }

    fn start(&self, main: Function<'js>, context: &str) -> rquickjs::Result<Promise<'js>> {
        let given = self.ctx.json_parse(context)?;
        let context: Object = self.prelude.get::<_, Function>("context")?.call((given,))?;
        self.prelude.get::<_, Function>("start")?.call((main, context))
    }

    /// Runs jobs until the promise is settled.
    fn settle(&self, source: &str, promise: &Promise<'js>) -> Result<Value<'js>, End> {
        loop {
            while self.ctx.execute_pending_job() {}
            if promise.state() != PromiseState::Pending {
                let value = promise.result().unwrap_or_else(|| Ok(Value::new_undefined(self.ctx.clone())));
                return value.map_err(|error| explain::end(&self.ctx, &self.room, source, error));
            }
            if WAITING.with_borrow(HashMap::is_empty) {
                let message = "The script waits for a promise that nothing will ever settle.";
                return Err(End::Failed(Code::NeverSettles, message.to_owned()));
            }
            self.answer().map_err(|error| explain::end(&self.ctx, &self.room, source, error))?;
        }
    }

    /// Waits for the response to a call and settles its promise.
    fn answer(&self) -> rquickjs::Result<()> {
        let frame = pipe::receive();
        let (number, answer) = match pipe::parse(&frame) {
            Down::Answer(number, answer) => (number, Ok(self.ctx.json_parse(answer.get())?)),
            Down::Refusal(number, reason) => (number, Err(reason)),
            Down::Run { .. } | Down::Check { .. } => std::process::exit(1),
        };
        drop(frame);
        let Some([resolve, reject]) = WAITING.with_borrow_mut(|waiting| waiting.remove(&number)) else {
            std::process::exit(1)
        };
        match answer {
            Ok(value) => resolve.restore(&self.ctx)?.call((value,)),
            Err(reason) => reject.restore(&self.ctx)?.call((reason,)),
        }
    }

    /// Reads the script's return value. Its getters and `toJSON` run here.
    fn read(&self, source: &str, returned: &Value<'js>) -> Result<Outcome, End> {
        let explained = |error| explain::end(&self.ctx, &self.room, source, error);
        let Some(result) = returned.as_object().filter(|_| !returned.is_array() && !returned.is_function())
        else {
            return Err(bad(&format!("it returned {}", kind(returned))));
        };
        for key in result.keys::<String>() {
            let key = key.map_err(explained)?;
            if !["status", "summary", "evidence"].contains(&key.as_str()) {
                return Err(bad(&format!("it has a field {key:?}")));
            }
        }
        let status: Value = result.get("status").map_err(explained)?;
        let verdict = match explain::text(&self.ctx, &status).as_deref() {
            Some("pass") => Verdict::Pass,
            Some("fail") => Verdict::Fail,
            Some(other) => return Err(bad(&format!("status is {:?}", explain::short(other, 40)))),
            None => return Err(bad(&format!("status is {}", kind(&status)))),
        };
        let summary: Value = result.get("summary").map_err(explained)?;
        let Some(summary) = explain::text(&self.ctx, &summary) else {
            return Err(bad(&format!("summary is {}", kind(&summary))));
        };
        let evidence = self.evidence(result.get("evidence").map_err(explained)?, source)?;
        if summary.len() + evidence.as_deref().map_or(0, |evidence| evidence.get().len()) > self.limits.output
        {
            return Err(End::Exceeded(Code::OutputLimit));
        }
        Ok(Outcome { verdict, summary, evidence })
    }

    fn evidence(&self, value: Value<'js>, source: &str) -> Result<Option<Box<RawValue>>, End> {
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        let what = kind(&value);
        let json = match self
            .ctx
            .json_stringify(value)
            .and_then(|json| json.map(|json| json.to_string()).transpose())
        {
            Ok(Some(json)) => json,
            Ok(None) => return Err(bad(&format!("evidence is {what}"))),
            Err(error) => {
                return Err(match explain::end(&self.ctx, &self.room, source, error) {
                    End::Failed(_, message) => bad(&format!("evidence cannot be written as JSON: {message}")),
                    limit @ End::Exceeded(_) => limit,
                });
            }
        };
        RawValue::from_string(json).map(Some).map_err(|_| bad("evidence cannot be written as JSON"))
    }

    /// Checks a source without running any of it.
    pub(super) fn check(&self, source: &str) -> Option<Mistake> {
        if let Some(mistake) = explain::nul(source) {
            return Some(mistake);
        }
        if let Err(error) = Module::declare(self.ctx.clone(), NAME, source) {
            return Some(explain::mistake(&self.ctx, &self.room, source, error));
        }
        // This module imports the default export and then a name that does not exist, so that nothing runs.
        let linking = format!("import main from {NAME:?}; import {{ nothing }} from {NAME:?};");
        let module = Module::declare(self.ctx.clone(), "check.js", linking);
        let error = module.and_then(Module::eval).err()?;
        let mistake = explain::mistake(&self.ctx, &self.room, source, error);
        if mistake.message.contains("'nothing'") {
            return None;
        }
        if mistake.message.contains("'default'") && mistake.message.contains(NAME) {
            return Some(Mistake { message: NO_DEFAULT.to_owned(), line: None, column: None });
        }
        Some(mistake)
    }
}

fn bad(what: &str) -> End {
    let message = format!(
        "The script must return {{ status: \"pass\" or \"fail\", summary: a string, evidence: any JSON (optional) }}, but {what}."
    );
    End::Failed(Code::BadResult, message)
}

fn kind(value: &Value<'_>) -> &'static str {
    match value.type_of() {
        Type::Undefined | Type::Uninitialized => "undefined",
        Type::Null => "null",
        Type::Bool => "a boolean",
        Type::Int | Type::Float | Type::BigInt => "a number",
        Type::String => "a string",
        Type::Symbol => "a symbol",
        Type::Array => "an array",
        Type::Constructor | Type::Function => "a function",
        _ => "an object",
    }
}
