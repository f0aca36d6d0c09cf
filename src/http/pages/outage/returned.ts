// Routes whose form comes back as it was typed when the store does not answer, at whichever step that is.

import { isOutage } from '../../../domain/errors.ts'
import { type Exchange, queryOf } from '../../door/exchange.ts'
import type { Asked, Route } from '../../door/router.ts'
import type { Endpoint } from '../../urls.ts'
import { type Form, formOf, readForm } from '../frame/form.ts'
import type { GetGuest, Guest } from '../frame/guest.ts'
import type { GiveBack } from './give-back.ts'

/** Who sent the form, and its fields, which are read once. */
export type Reading = { findGuest: () => Promise<Guest>; read: () => Promise<Form> }

type Answer = (reading: Reading, params: Asked['params']) => Promise<Response>

export function createReturned({ getGuest, giveBack }: { getGuest: GetGuest; giveBack: GiveBack }) {
  return (url: Endpoint<'GET' | 'POST'>, answer: Answer): Route => ({
    url,
    answer: async ({ exchange, params }) => {
      let guest: Guest | null = null
      let form: Form | null = null
      const findGuest = async () => {
        guest = await getGuest(exchange)
        return guest
      }
      const read = async () => {
        form ??= await readSent(url, exchange)
        return form
      }
      try {
        return await answer({ findGuest, read }, params)
      } catch (cause) {
        if (!isOutage(cause)) throw cause
        const sender = guest ?? getGuest.stranger(exchange)
        const again = giveBack({ url, guest: sender, form: await read(), cause })
        if (again === null) throw cause
        return again
      }
    },
  })
}

async function readSent({ method }: Endpoint, exchange: Exchange): Promise<Form> {
  return method === 'GET' ? formOf(queryOf(exchange)) : readForm(exchange)
}
