// A row of the table for a command that calls a server: the flags that choose the server, and the call for the action.

import { clientSecrets, clientSettings } from '../settings/client.ts'
import type { Table, Values } from '../settings/setting.ts'
import { type Command, command, type Given } from './command.ts'
import { certificates } from './paths.ts'
import type { Visit } from './visit.ts'

const serverSettings = {
  ...clientSettings,
  cacert: { ...clientSettings.cacert, parse: certificates },
  ...clientSecrets,
}

type ServerCommand<F extends Table> = Omit<Command<F, typeof serverSettings>, 'act'> & {
  needsLogin?: boolean
  /** Whether it asks so often that a server may tell it to wait many times. */
  isPatient?: boolean
  /** Whether to warn if the connection is not encrypted. */
  sendsSecrets?: boolean
  act(given: Given<Values<F>> & Visit): Promise<void>
}

/** A command that calls a server. */
export function serverCommand<F extends Table>({ act, ...row }: ServerCommand<F>): Command {
  return command({
    ...row,
    heading: 'Share and open:',
    settings: serverSettings,
    act: async (given) => {
      const { openVisit } = await import('./visit.ts')
      await act({ ...given, ...(await openVisit(given, row)) })
    },
  })
}
