//! Reading names, comments and types.

use syn::{Attribute, Expr, ExprLit, GenericArgument, Ident, Lit, Meta, PathArguments, Type};

/// The camel case of a name in snake case.
pub(crate) fn wire_name(name: &Ident) -> String {
    let mut wire = String::new();
    for (place, word) in name.to_string().split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if place > 0 => wire.extend(first.to_uppercase()),
            Some(first) => wire.push(first),
            None => {}
        }
        wire.push_str(letters.as_str());
    }
    wire
}

/// The doc comment, in one line.
pub(crate) fn about(attributes: &[Attribute]) -> String {
    let lines =
        attributes.iter().filter(|one| one.path().is_ident("doc")).filter_map(|one| match &one.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        });
    lines.collect::<Vec<_>>().join(" ")
}

/// The argument of a generic type of this name, such as the `T` of `Option<T>`.
pub(crate) fn argument_of<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|one| match one {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        }),
        _ => None,
    }
}
