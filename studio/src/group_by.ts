/** Items by what a function says of them, in the order in which each group began. */
export function groupBy<T>(items: readonly T[], of: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(of(item), [...(groups.get(of(item)) ?? []), item]);
  return groups;
}
