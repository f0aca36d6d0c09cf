// A store that throws on demand, like a database that is unreachable, locked or full.

import type { OpenedStore } from '../../src/store/opening/opened-store.ts'

/** The operations of a store by their part, such as `sessions.findByHash`. */
export type Fails = (operation: string) => Error | null

/** The parts that requests use. Others, like the clock, need no database. */
const ROOMS = [
  ...['pushes', 'lists', 'audit', 'idempotencyKeys', 'files', 'accounts', 'apiTokens', 'sessions'],
  ...['accountLinks', 'twoFactor', 'preferences', 'people', 'appearance', 'requests'],
]
const SHARED_ROOMS = ['budgets', 'nonces', 'turns']
/** Operations that never throw, by their contract. */
const SURE = new Set(['budgets.giveBack'])

export function createFailingStore() {
  let fails: Fails = () => null

  function wrap<T extends object>(room: T, name: string): T {
    return new Proxy(room, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        const operation = `${name}.${String(key)}`
        if (typeof value !== 'function' || SURE.has(operation)) return value
        return (...given: unknown[]) => {
          const failure = fails(operation)
          return failure === null ? Reflect.apply(value, target, given) : Promise.reject(failure)
        }
      },
    })
  }

  function wrapRooms<T extends object>(all: T, names: readonly string[]): T {
    const rooms = Object.entries(all).map(([name, room]) => [
      name,
      names.includes(name) && typeof room === 'object' && room !== null ? wrap(room, name) : room,
    ])
    return Object.fromEntries(rooms) as T
  }

  return {
    interpose: (store: OpenedStore): OpenedStore => ({
      ...wrapRooms(store, ROOMS),
      shared: wrapRooms(store.shared, SHARED_ROOMS),
    }),
    /** Makes every operation for which `which` returns an error throw it, from now on. */
    failWith: (which: Fails) => {
      fails = which
    },
    heal: () => {
      fails = () => null
    },
  }
}
