//! LaTeX, to be taken into a thesis with `\input`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::escape::{label, latex as escaped, latex_number};
use super::{Document, Part, TitledTable};

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "% {}: {}", escaped(&document.title), escaped(&document.about))?;
    writeln!(
        out,
        "% In the preamble: \\usepackage{{booktabs}} and \\usepackage{{threeparttable}}"
    )?;
    // Tables of one name at several points of a grid are numbered, so that labels differ.
    let mut tables_named: BTreeMap<&str, u32> = BTreeMap::new();
    for part in &document.parts {
        writeln!(out)?;
        match part {
            Part::Words(words) => writeln!(out, "{}", escaped(words))?,
            Part::Heading(heading) => writeln!(out, "\\subsection*{{{}}}", escaped(heading))?,
            Part::Table(table) => {
                let number = tables_named.entry(table.name).or_default();
                *number += 1;
                let mut name = format!("tab:{}-{}", label(&document.title), table.name);
                if *number > 1 {
                    name.push_str(&format!("-{number}"));
                }
                write_table(&document.title, &name, table, out)?;
            }
        }
    }
    Ok(())
}

fn write_table(
    subject: &str,
    label: &str,
    table: &TitledTable,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = &table.columns;
    let layout: String =
        columns.iter().map(|column| if column.is_of_numbers() { 'r' } else { 'l' }).collect();
    writeln!(out, "\\begin{{table}}[htbp]\n\\centering\n\\begin{{threeparttable}}")?;
    writeln!(out, "\\caption{{{} ({})}}", escaped(&table.title), escaped(subject))?;
    writeln!(out, "\\label{{{label}}}\n\\begin{{tabular}}{{{layout}}}\n\\toprule")?;
    write_row(columns.iter().map(|column| escaped(column.heading())), out)?;
    writeln!(out, "\\midrule")?;
    for row in &table.rows {
        let cells = row.iter().zip(columns).map(|(cell, column)| match column.is_of_numbers() {
            true => latex_number(cell),
            false => escaped(cell),
        });
        write_row(cells, out)?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")?;
    if !table.notes.is_empty() {
        writeln!(out, "\\begin{{tablenotes}}[flushleft]\n\\footnotesize")?;
        for note in &table.notes {
            writeln!(out, "\\item {}", escaped(note))?;
        }
        writeln!(out, "\\end{{tablenotes}}")?;
    }
    writeln!(out, "\\end{{threeparttable}}\n\\end{{table}}")
}

fn write_row(cells: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))
}
