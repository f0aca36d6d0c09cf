// The settings that were in effect when a backup was made, as far as the restored server does not have them by itself.

export type FormerSetting = {
  flag: string
  /** Null for a secret, which is in no backup. */
  value: string | null
}

/** These are where the restored folder is, and not where the former one was. */
const OF_THE_PLACE = ['data-dir', 'key-file']
/** Meant for one start of the former server. */
const OF_ONE_START = ['accept-clock', 'accept-move', 'accept-database', 'backup-accept-folder']
const HIDDEN = '(hidden)'

/** Those that differed from the defaults. Anything but such a list of settings is read as none. */
export function changedSettings(text: string): FormerSetting[] {
  return listIn(text)
    .flatMap((read) => parse(read))
    .filter(({ flag }) => ![...OF_THE_PLACE, ...OF_ONE_START].includes(flag))
}

function listIn(text: string): readonly unknown[] {
  try {
    const { settings }: { settings: unknown } = { settings: [], ...JSON.parse(text) }
    return Array.isArray(settings) ? settings : []
  } catch {
    return []
  }
}

function parse(read: unknown): FormerSetting[] {
  if (typeof read !== 'object' || read === null) return []
  const { flag, value, isChanged } = { flag: null, value: null, isChanged: null, ...read }
  const isNamed = typeof flag === 'string' && /^[a-z][a-z0-9-]{0,63}$/.test(flag)
  if (!isNamed || typeof value !== 'string' || isChanged !== true) return []
  return [{ flag, value: value === HIDDEN ? null : value }]
}
