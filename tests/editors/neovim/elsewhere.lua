-- Findings, and final values, in another file that is open follow an edit.

local editor = require('editor')

vim.lsp.config('layercake', {
  settings = { layercake = { site = 'north', inlayHints = { enable = true } } },
})
editor.open(editor.CLOUD)
vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
local cloud = editor.buffer(editor.CLOUD)
local function hints()
  return vim.tbl_map(function(it) return it.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = cloud }))
end
editor.becomes({ '→ 5' }, hints)
vim.cmd('split')
editor.open(editor.NORTH, 'api: |5')
editor.type('r7')
editor.becomes({ '→ 7' }, hints)
vim.cmd('wincmd p')
editor.go('name: keystone-clou|d')
editor.type('As<Esc>')
editor.finds(editor.buffer(editor.NORTH), { '13:7 missing-parent', '8:3 invalid-replacement' })
