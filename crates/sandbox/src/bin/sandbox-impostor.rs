//! A fake child for tests: reports that it is ready, reads its script, and responds with the first argument. The
//! second is the number of bytes by which it overstates the length of its response.

use std::io::{Read, Write, stdin, stdout};

use attestry_sandbox::forks;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let said = arguments.next().unwrap_or_default();
    let missing: u32 = arguments.next().and_then(|missing| missing.parse().ok()).unwrap_or_default();
    forks(|| {
        // The server notices that the response is too short.
        let _ = answer(said.as_bytes(), missing);
    })
}

fn answer(said: &[u8], missing: u32) -> std::io::Result<()> {
    let mut output = stdout().lock();
    output.write_all(b"\x07\0\0\0\"Ready\"")?;
    output.flush()?;
    let mut length = [0; 4];
    stdin().read_exact(&mut length)?;
    let script = stdin().take(u32::from_le_bytes(length).into()).read_to_end(&mut Vec::new())?;
    assert!(script > 0, "a script has arrived");
    let length = u32::try_from(said.len()).unwrap_or(u32::MAX).saturating_add(missing);
    output.write_all(&length.to_le_bytes())?;
    output.write_all(said)?;
    output.flush()
}
