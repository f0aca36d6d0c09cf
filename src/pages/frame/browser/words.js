// The word list for passphrases, in a script of its own because of its size.

export { wordlist } from '@scure/bip39/wordlists/english.js'
