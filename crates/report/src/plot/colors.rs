//! Colours by name in style sheets.

/// Returns the rules with the palette's colours substituted for their names: SVG to PDF converters often lack
/// variables.
pub(crate) fn with_colors(rules: &str, palette: &str) -> String {
    let declarations = palette.split([';', '{', '}']).map(str::trim);
    let colors =
        declarations.filter_map(|declaration| declaration.strip_prefix("--")?.split_once(':'));
    colors.fold(rules.to_owned(), |rules, (name, color)| {
        rules.replace(&format!("var(--{name})"), color.trim())
    })
}
