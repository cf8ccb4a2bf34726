//! The tables of the story, which are files in `data/`. Days are counted back from today.

use serde::Deserialize;

/// Parses a table. A test verifies that every file can be parsed completely.
pub(crate) fn read<T: Deserialize<'static> + Default>(file: &'static str) -> T {
    serde_json::from_str(file).unwrap_or_default()
}

/// Names the table of a file, and tests that the file can be parsed.
macro_rules! table {
    ($vis:vis $name:ident: $type:ty = $file:literal) => {
        $vis static $name: std::sync::LazyLock<$type> =
            std::sync::LazyLock::new(|| crate::data::read(include_str!(concat!("../data/", $file, ".json"))));

        #[cfg(test)]
        #[test]
        fn its_table_is_complete() {
            let file = include_str!(concat!("../data/", $file, ".json"));
            let read: Result<$type, _> = serde_json::from_str(file);
            assert!(read.is_ok(), "{}: {:?}", $file, read.err());
        }
    };
}
