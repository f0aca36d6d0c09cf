// The scripts and the style sheet of the pages. Import them on demand: an idle server needs neither.

import { bundleForBrowser, joinStyles } from './browser-bundles.ts' with { type: 'macro' }

export const STYLE = joinStyles()

export const SCRIPTS = {
  common: bundleForBrowser('common.js'),
  answer: bundleForBrowser('answer.js'),
  ask: bundleForBrowser('ask.js'),
  create: bundleForBrowser('create.js'),
  'qr-picture': bundleForBrowser('qr-picture.js'),
  'qr-preview': bundleForBrowser('qr-preview.js'),
  lists: bundleForBrowser('lists.js'),
  handover: bundleForBrowser('handover.js'),
  passkey: bundleForBrowser('passkey.js'),
  receive: bundleForBrowser('receive.js'),
  seal: bundleForBrowser('sealed/seal.js'),
  identity: bundleForBrowser('sealed/identity.js'),
  unseal: bundleForBrowser('sealed/unseal.js'),
  words: bundleForBrowser('words.js'),
}
