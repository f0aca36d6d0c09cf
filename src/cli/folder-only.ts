// Commands that work on a database in a data folder, and on no server: they refuse, and say what to do instead.

import type { Command } from 'commander'
import { readSettings } from '../settings/fold.ts'
import type { Place } from '../settings/parsers.ts'
import { settings } from '../settings/table.ts'
import { CommandFailure } from './failures.ts'
import { addHiddenFlags, givenFlags } from './flags.ts'
import type { Shell } from './shell.ts'

const TABLE = { databaseUrl: settings.databaseUrl }

export function addFolderOnlyFlags(command: Command): void {
  addHiddenFlags(command, TABLE)
}

export type FolderOnly = {
  place: Place
  shell: Shell
  /** What the command does with a data folder, to begin a sentence. */
  does: string
  /** What to do with PostgreSQL, as sentences. */
  instead: string
}

/** Throws when a flag or a variable says that the database is PostgreSQL. */
export function requireFolderDatabase(command: Command, { place, shell, does, instead }: FolderOnly): void {
  const flags = givenFlags(command, TABLE)
  const { entries = [] } = readSettings(TABLE, { flags, place, readFile: shell.readFile })
  const entry = entries.find(({ value }) => value !== null)
  if (entry === undefined) return
  throw new CommandFailure(
    `${does}, and the database is PostgreSQL here (${entry.from}). ${instead} For a data folder, leave ${entry.from} out.`,
  )
}
