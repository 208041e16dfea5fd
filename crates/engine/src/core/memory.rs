//! Memory that a search reserves at once, in the size that a parameter sets. If the system refuses
//! it, the game must end, not the process.

use crate::core::limits::MemoryRefused;

/// A list of zeros. The operating system provides the pages as they are used, so unused ones cost
/// nothing.
pub(crate) fn zeros(len: usize, parameter: &'static str) -> Result<Vec<u64>, MemoryRefused> {
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| refused::<u64>(len, parameter))
}

/// Empties a list and reserves room for `len` entries, unless it already has it.
pub(crate) fn reserve<T>(
    list: &mut Vec<T>,
    len: usize,
    parameter: &'static str,
) -> Result<(), MemoryRefused> {
    list.clear();
    list.try_reserve_exact(len).map_err(|_| refused::<T>(len, parameter))
}

fn refused<T>(len: usize, parameter: &'static str) -> MemoryRefused {
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    MemoryRefused { parameter, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any address space has.
    const TOO_MANY: usize = isize::MAX as usize / 16;

    #[test]
    fn what_the_system_refuses_is_an_error() {
        let bytes = TOO_MANY as u64 * 8;
        let refused = MemoryRefused { parameter: "table_mib", bytes };
        assert_eq!(zeros(TOO_MANY, "table_mib"), Err(refused));
        assert_eq!(reserve(&mut Vec::<u64>::new(), TOO_MANY, "table_mib"), Err(refused));
        assert_eq!(
            format!("{refused}; {}", refused.remedy()),
            "the system refused the 4398046511104 MiB of memory that `table_mib` asks for; make \
             `table_mib` smaller, play fewer games at once, or use a machine with more memory"
        );
    }

    #[test]
    fn what_it_provides_is_there() {
        assert_eq!(zeros(0, "table_mib"), Ok(Vec::new()));
        assert_eq!(zeros(3, "table_mib"), Ok(vec![0; 3]));
        let mut list = vec![1, 2];
        assert_eq!(reserve(&mut list, 100, "max_tree_nodes"), Ok(()));
        assert!(list.is_empty() && list.capacity() >= 100);
    }
}
