// Joins two ordered lists in one walk: the values that belong to each id.

export type Grouped<T> = { group: number; value: T }

/** Ask for ids in ascending order. Values of ids that were passed over are left out. */
export function createGrouped<T>(ordered: Iterator<Grouped<T>>): (id: number) => T[] {
  let next = ordered.next()
  return (id) => {
    const values: T[] = []
    while (!next.done && next.value.group <= id) {
      if (next.value.group === id) values.push(next.value.value)
      next = ordered.next()
    }
    return values
  }
}
