//! Memory that a search reserves at once. If the system refuses it, the game must end, not the process.

use bytemuck::Zeroable;

use crate::core::limits::MemoryRefused;

/// A list of zeros, in the size that a parameter sets or, without one, that a solver needs. The operating system
/// provides the pages as they are used, so unused ones cost nothing.
pub(crate) fn zeros<T: Zeroable>(
    len: usize,
    parameter: Option<&'static str>,
) -> Result<Vec<T>, MemoryRefused> {
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| refused::<T>(len, parameter))
}

/// Empties a list and reserves room for `len` entries, unless it already has it.
pub(crate) fn reserve<T>(
    list: &mut Vec<T>,
    len: usize,
    parameter: &'static str,
) -> Result<(), MemoryRefused> {
    list.clear();
    list.try_reserve_exact(len).map_err(|_| refused::<T>(len, Some(parameter)))
}

/// The same for a solver, which needs that much.
pub(crate) fn reserve_for_solver<T>(list: &mut Vec<T>, len: usize) -> Result<(), MemoryRefused> {
    list.clear();
    list.try_reserve_exact(len).map_err(|_| refused::<T>(len, None))
}

fn refused<T>(len: usize, parameter: Option<&'static str>) -> MemoryRefused {
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
        let refused = MemoryRefused { parameter: Some("table_mib"), bytes };
        assert_eq!(zeros::<u64>(TOO_MANY, Some("table_mib")), Err(refused));
        assert_eq!(reserve(&mut Vec::<u64>::new(), TOO_MANY, "table_mib"), Err(refused));
        assert_eq!(
            format!("{refused}; {}", refused.remedy()),
            "the system refused the 4398046511104 MiB of memory that `table_mib` asks for; make \
             `table_mib` smaller, play fewer games at once, or use a machine with more memory"
        );
        let refused = zeros::<[u64; 2]>(TOO_MANY / 2, None).unwrap_err();
        assert_eq!(
            format!("{refused}; {}", refused.remedy()),
            "the system refused the 4398046511104 MiB of memory that the exact solver asks for; play \
             fewer games at once, or use a machine with more memory"
        );
    }

    #[test]
    fn what_it_provides_is_there() {
        assert_eq!(zeros::<u64>(0, Some("table_mib")), Ok(Vec::new()));
        assert_eq!(zeros(3, None), Ok(vec![[0_u64; 2]; 3]));
        let mut list = vec![1, 2];
        assert_eq!(reserve(&mut list, 100, "max_tree_nodes"), Ok(()));
        assert!(list.is_empty() && list.capacity() >= 100);
    }
}
