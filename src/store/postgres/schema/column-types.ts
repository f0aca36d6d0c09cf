// The types of columns that PostgreSQL and drizzle name differently.

import { bigint as bigintOf, customType } from 'drizzle-orm/pg-core'

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
/** Times and ids; both stay far below 2^53. */
export const bigint = (name?: string) =>
  name === undefined ? bigintOf({ mode: 'number' }) : bigintOf(name, { mode: 'number' })
