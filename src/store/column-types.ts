// Types of columns that drizzle has otherwise.

import { customType, integer } from 'drizzle-orm/sqlite-core'

/** drizzle's own type turns each value into a Buffer, which takes longer than reading it. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })

/** True or false. */
export const flag = (name: string) => integer(name, { mode: 'boolean' })
