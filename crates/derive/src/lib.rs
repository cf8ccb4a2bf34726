//! Derives what follows from the fields of a struct.

mod fields;
mod filter;
mod row;
mod text;
mod view;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `attestry_domain::row::Row`: each field is a column of the same name, unless `#[row(…)]` says otherwise.
///
/// | attribute | stored as |
/// |---|---|
/// | `column = "name"` | a column of another name |
/// | `json` | JSON text; null if the field is `None` |
/// | `flatten` | the columns of a struct that is a row itself; all null if the field is `None` |
/// | `flatten, prefix = "signer_"` | the same, with a prefix before their names: `m.` is the alias of a table in a join |
/// | `skip` | nothing; it is read as its default |
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `attestry_domain::registers::Fields` for the fields of a register, and declares the struct of those that
/// callers give: of `Risk` it is `RiskPatch`. The doc comment of a field is its description in the document.
///
/// | field | on creation | on change |
/// |---|---|---|
/// | `T` | required | optional |
/// | `#[field(default)] T` | optional | optional |
/// | `#[field(reset)] T` | optional | null sets it back to its default |
/// | `Option<T>` | optional or null | null clears it |
/// | `#[field(own)]` | not accepted: the product sets it | not accepted |
///
/// On the wire its name is in camel case, unless `#[field(wire = "name")]` says otherwise.
#[proc_macro_derive(Fields, attributes(field))]
pub fn fields(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `attestry_domain::registers::Filter`: each field is an optional condition on the column of the same name.
///
/// | field | holds if the column |
/// |---|---|
/// | `Option<AnyOf<T>>` | is one of the values |
/// | `Option<T>` | is the value |
/// | `#[filter(has = "column")]` | contains the value |
/// | `#[filter(at_least = "column")]` | is the value or more; the column is computed |
#[proc_macro_derive(Filter, attributes(filter))]
pub fn filter(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    filter::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `From<Entity>` for a view with `#[view(Entity)]`: each field is the one of the same name, or the expression
/// in its `#[view(…)]`, in which `one` is the entity. The fields are moved in their order.
#[proc_macro_derive(View, attributes(view))]
pub fn view(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    view::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
