//! The hidden command alone, for tests.

fn main() {
    attestry_sandbox::child()
}
