// The script that tells how strong a password is. Imported when a browser asks for it, because it holds long
// lists.

import { bundleForBrowser } from './browser-bundles.ts' with { type: 'macro' }

export const strengthScript = bundleForBrowser('strength.js')
