// The table of settings: each with its parser, its default and one line of help.

import type { SettingsTable, Values } from './setting.ts'
import { lanSettings } from './table/lan.ts'
import { pushesSettings } from './table/pushes.ts'
import { runningSettings } from './table/running.ts'
import { signInSettings } from './table/sign-in.ts'
import { storageSettings } from './table/storage.ts'

export const settings = {
  ...storageSettings,
  ...lanSettings,
  ...pushesSettings,
  ...signInSettings,
  ...runningSettings,
} satisfies SettingsTable

/** The configuration of the app, inferred from the table so that a new setting needs only a row. */
export type Config = Values<typeof settings>
