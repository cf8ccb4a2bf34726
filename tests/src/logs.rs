//! Captures the errors and warnings that are logged during one test.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

#[derive(Clone, Debug, Default)]
pub(crate) struct Logs(Arc<Mutex<Vec<(Level, String)>>>);

impl Logs {
    pub(crate) fn subscriber(&self) -> impl Subscriber + Send + Sync + 'static {
        Registry::default().with(Catch(self.clone()))
    }

    /// Takes the lines of a level.
    pub(crate) fn take(&self, level: Level) -> Vec<String> {
        let mut lines = self.0.lock().expect("not poisoned");
        let taken = lines.extract_if(.., |(of, _)| *of == level);
        taken.map(|(_, line)| line).collect()
    }
}

struct Catch(Logs);

impl<S: Subscriber> Layer<S> for Catch {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        if level <= Level::WARN && event.metadata().target().starts_with("attestry") {
            let mut line = Line::default();
            event.record(&mut line);
            self.0.0.lock().expect("not poisoned").push((level, line.0));
        }
    }
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}
