-- Names, layers and paths are offered while they are typed.

local editor = require('editor')

local function offered()
  return vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'items' }).items)
end

-- Asked for.
editor.open(editor.NORTH, '      |name: keystone-cloud')
vim.api.nvim_input('Cname: <C-x><C-o>')
editor.becomes({
  'endpoints-cloud',
  'horizon-global',
  'keystone-cloud',
  'keystone-global',
  'software-versions-global',
}, offered)
vim.api.nvim_input(('<C-n>'):rep(3) .. '<C-y><Esc>')
editor.becomes('      name: keystone-global', vim.api.nvim_get_current_line)
editor.becomes('n', function() return vim.api.nvim_get_mode().mode end)

-- Offered behind a character that begins a value.
vim.lsp.completion.enable(true, editor.client().id, 0, { autotrigger = true })
editor.go('    |layer: site')
vim.api.nvim_input('Clayer:<Space>')
editor.becomes({ 'global', 'site', 'type' }, offered)
vim.api.nvim_input('<C-e><Esc>')
