//! The hidden command as a program of its own, for tests.

fn main() {
    attestry_pdf::stamping_child()
}
