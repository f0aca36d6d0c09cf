// Checks whether --base-url still has the host name of the passkeys: they work under no other.

import { findRelyingParty } from '../../domain/passkey.ts'
import { type Checks, fine, warning } from '../../operating/health.ts'
import { countByHost } from '../../store/accounts/passkeys.ts'
import type { DoctorOptions } from './place.ts'
import type { Rows } from './rows.ts'

/**
 * Counts the passkeys that stop working under --base-url. Run with another --base-url, it shows what a move
 * would cost.
 */
export function createPasskeyCheck({ config }: DoctorOptions, { read }: Rows): Checks {
  if (read === null) return {}
  return {
    passkeys: async () => {
      const hosts = await read(countByHost)
      if (hosts.length === 0) return null
      const present = findRelyingParty(config.baseUrl)?.id
      const lost = hosts.filter(({ rpId }) => rpId !== present)
      const count = (of: typeof hosts) => of.reduce((sum, { n }) => sum + n, 0)
      if (lost.length === 0) return fine(`Passkeys: ${count(hosts)}, all of ${present}.`)
      const names = lost.map(({ rpId, n }) => `${n} of ${rpId}`).join(', ')
      const here = present === undefined ? 'which lets browsers use none' : `which is ${present}`
      return warning(
        `Lost passkeys: ${names}. They work under no other host name than that of --base-url when they were added, and not under the present one, ${here}.`,
        'Serve under the former name, or let people sign in with password and recovery code and add new passkeys.',
      )
    },
  }
}
