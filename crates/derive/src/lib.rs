//! Derives what follows from the fields of a struct.

mod row;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `attestry_domain::row::Row`: each field is a column of the same name, unless `#[row(…)]` says otherwise.
///
/// | attribute | stored as |
/// |---|---|
/// | `column = "name"` | a column of another name |
/// | `json` | JSON text; null if the field is `None` |
/// | `flatten` | the columns of a struct that is a row itself; all null if the field is `None` |
/// | `flatten, prefix = "signer_"` | the same, with a prefix before their names |
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
