//! `#[derive(Row)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Ident, LitStr, Result};

use crate::text::argument_of;

/// The attributes of a field.
#[derive(Default)]
struct Options {
    column: Option<LitStr>,
    prefix: Option<LitStr>,
    json: bool,
    flatten: bool,
    skip: bool,
}

impl Options {
    fn of(field: &Field) -> Result<Self> {
        let mut options = Self::default();
        for attribute in field.attrs.iter().filter(|one| one.path().is_ident("row")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("json") {
                    options.json = true;
                } else if meta.path.is_ident("flatten") {
                    options.flatten = true;
                } else if meta.path.is_ident("skip") {
                    options.skip = true;
                } else if meta.path.is_ident("column") {
                    options.column = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("prefix") {
                    options.prefix = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("expected `column`, `json`, `flatten`, `prefix` or `skip`"));
                }
                Ok(())
            })?;
        }
        if options.prefix.is_some() && !options.flatten {
            return Err(Error::new_spanned(field, "`prefix` needs `flatten`"));
        }
        Ok(options)
    }
}

/// The code of a field: its columns, its part of reading, and its part of writing.
struct Parts {
    name: Ident,
    columns: TokenStream,
    read: TokenStream,
    write: TokenStream,
}

fn parts(field: &Field) -> Result<Parts> {
    let Some(name) = field.ident.clone() else {
        return Err(Error::new_spanned(field, "a row has named fields"));
    };
    let (options, ty) = (Options::of(field)?, &field.ty);
    let column = options.column.map_or_else(|| name.to_string(), |column| column.value());
    let one = quote!(columns.push(#column.into()););
    Ok(if options.skip {
        Parts {
            columns: TokenStream::new(),
            read: quote!(::std::default::Default::default()),
            write: TokenStream::new(),
            name,
        }
    } else if options.flatten {
        let prefix = options.prefix.map(|prefix| prefix.value()).unwrap_or_default();
        Parts {
            columns: quote! {
                let own = <#ty as crate::row::Row>::columns().into_iter();
                columns.extend(own.map(|column| ::std::format!("{}{column}", #prefix).into()));
            },
            read: quote!(<#ty as crate::row::Row>::read(cells)?),
            write: quote!(crate::row::Row::write(&self.#name, values)?;),
            name,
        }
    } else if options.json && argument_of(ty, "Option").is_some() {
        Parts {
            columns: one,
            read: quote!(cells.optional_json()?),
            write: quote!(values.push(crate::row::optional_json(self.#name.as_ref())?);),
            name,
        }
    } else if options.json {
        Parts {
            columns: one,
            read: quote!(cells.json()?),
            write: quote!(values.push(crate::row::json(&self.#name)?);),
            name,
        }
    } else {
        Parts {
            columns: one,
            read: quote!(cells.take()?),
            write: quote!(values.push(crate::plain::Keep::plain(&self.#name));),
            name,
        }
    })
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "only a struct is a row"));
    };
    let parts: Vec<Parts> = data.fields.iter().map(parts).collect::<Result<_>>()?;
    let (own, names) = (&input.ident, parts.iter().map(|part| &part.name));
    let (columns, read, write) = (
        parts.iter().map(|part| &part.columns),
        parts.iter().map(|part| &part.read),
        parts.iter().map(|part| &part.write),
    );
    Ok(quote! {
        impl crate::row::Row for #own {
            fn columns() -> ::std::vec::Vec<::std::borrow::Cow<'static, str>> {
                let mut columns = ::std::vec::Vec::new();
                #(#columns)*
                columns
            }

            fn read<C: crate::row::Cells>(cells: &mut C) -> ::std::result::Result<Self, C::Error> {
                ::std::result::Result::Ok(Self { #(#names: #read),* })
            }

            fn write<'a>(
                &'a self,
                values: &mut ::std::vec::Vec<crate::plain::Plain<'a>>,
            ) -> ::std::result::Result<(), crate::row::NotWritten> {
                #(#write)*
                ::std::result::Result::Ok(())
            }
        }
    })
}
