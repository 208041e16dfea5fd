//! Several tests at one family-wise error rate.

/// The p-values of a family, in its order, adjusted by Holm's step-down procedure (Holm 1979): a hypothesis is rejected
/// at the family-wise error rate α exactly if its adjusted p-value is at most α, for any dependence between the tests.
///
/// With the p-values in ascending order, the k-th of m (from 1) is adjusted to the largest of
/// (m - j + 1) p_j, j ≤ k, and at most 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (before, &index) in order.iter().enumerate() {
        let hypotheses_left = (p_values.len() - before) as f64;
        largest = largest.max((hypotheses_left * p_values[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
