-- Symbols, folds and selections.

local editor = require('editor')

local function symbols()
  vim.fn.setloclist(0, {}, 'r')
  vim.lsp.buf.document_symbol()
  local items = editor.wait('symbols', function()
    local found = vim.fn.getloclist(0)
    return #found > 0 and found
  end)
  vim.cmd('lclose')
  return vim.tbl_map(function(item) return ('%d: %s'):format(item.lnum, item.text) end, items)
end

editor.open(editor.NORTH)
local found = symbols()
editor.equal(vim.list_slice(found, 1, 4), {
  '7: [Class] keystone (site)',
  '4: [String] schema',
  '5: [Object] metadata',
  '6: [String] schema',
})
editor.equal(found[#found], '22: [Number] api')

local function fold(line)
  return { vim.fn.foldclosed(line), vim.fn.foldclosedend(line) }
end
vim.wo.foldmethod = 'expr'
vim.wo.foldexpr = 'v:lua.vim.lsp.foldexpr()'
vim.wo.foldlevel = 0
editor.becomes({ 1, 22 }, function() return fold(19) end)
editor.type('zR')
editor.go('    |pod:')
editor.type('zc')
editor.equal(fold(21), { 20, 22 })
editor.type('zR')

editor.go('api: |5')
local place = vim.lsp.util.make_position_params(0, editor.client().offset_encoding)
local selection = editor.ask('textDocument/selectionRange', {
  textDocument = place.textDocument,
  positions = { place.position },
})[1]
local texts = {}
while selection do
  local from, to = selection.range.start, selection.range['end']
  table.insert(texts, vim.api.nvim_buf_get_text(0, from.line, from.character, to.line, to.character, {})[1])
  selection = selection.parent
end
editor.equal(vim.list_slice(texts, 1, 3), { '5', 'api: 5', 'replicas:' })
editor.equal(texts[#texts], '---')

-- A secret has no parts, and its value is not a name.
editor.open('site/north/secrets/passphrases.yaml')
found = symbols()
editor.equal(found[1], '5: [Class] keystone_admin_password (site)')
editor.equal(found[10], '10: [String] data')
editor.equal(found[11], '15: [Class] keystone_database_password (site)')
editor.equal(#found, 20)
