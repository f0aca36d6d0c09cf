// The table of settings: flag, parser, default and one line of help for each.

import type { Setting, Table, Values } from './setting.ts'
import { backupsSettings } from './table/backups.ts'
import { brandSettings } from './table/brand.ts'
import { databaseSettings } from './table/database.ts'
import { expirySettings } from './table/expiry.ts'
import { lanSettings } from './table/lan.ts'
import { limitsSettings } from './table/limits.ts'
import { placeSettings } from './table/place.ts'
import { pushesSettings } from './table/pushes.ts'
import { runningSettings } from './table/running.ts'

export const settings = {
  ...placeSettings,
  ...databaseSettings,
  ...lanSettings,
  ...pushesSettings,
  ...expirySettings,
  ...limitsSettings,
  ...brandSettings,
  ...backupsSettings,
  ...runningSettings,
} satisfies Table

/** The configuration of the app, inferred from the table so that a new setting needs only a row. */
export type Config = Values<typeof settings>

/** In each list, no setting may exceed the next one. */
export const ascending: readonly (readonly Setting[])[] = [
  [settings.expireAfterDaysMin, settings.expireAfterDaysDefault, settings.expireAfterDaysMax],
  [settings.expireAfterViewsMin, settings.expireAfterViewsDefault, settings.expireAfterViewsMax],
]
