-- Findings are pushed, and places are in UTF-16. Files that another program changes are known at the next
-- request, without being watched.

local editor = require('editor')

-- Newer versions watch files.
local capabilities = vim.lsp.protocol.make_client_capabilities()
capabilities.workspace.didChangeWatchedFiles = nil
assert(capabilities.textDocument.diagnostic == nil, 'it asks for findings')
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'yaml',
  callback = function()
    local id = vim.lsp.start_client({
      cmd = { 'layercake', 'server' },
      root_dir = vim.fn.getcwd(),
      capabilities = capabilities,
    })
    vim.lsp.buf_attach_client(0, id)
  end,
})

local lab = editor.buffer('site/lab/charts/keystone.yaml')
editor.open(editor.CLOUD, 'api: |3')
editor.equal(editor.client().offset_encoding, 'utf-16')
editor.finds(lab, { '11:7 missing-parent' })
editor.finds(0, {})

-- The column of a finding behind a character of two units: Neovim counts its bytes.
editor.type('o"🍎é": {a: 1, b: 2, b: 3}<Esc>')
editor.finds(0, { '22:32 duplicate-key' })
-- An edit behind it.
editor.go('b: 2, |b')
editor.type('rc')
editor.finds(0, {})

local function hovered()
  local place = vim.lsp.util.make_position_params()
  return editor.ask('textDocument/hover', place).contents.value
end

editor.go('api: |3')
local before = hovered()
editor.has(before, editor.NORTH .. ':22')

-- Another program changes a file: a line further down.
local north = vim.fn.readfile(editor.NORTH)
local changed = vim.list_extend({ '# first' }, north)
vim.fn.writefile(changed, editor.NORTH)
local after = hovered()
vim.fn.writefile(north, editor.NORTH)
editor.has(after, editor.NORTH .. ':23')
assert(not after:find(editor.NORTH .. ':22', 1, true), after)
editor.has(hovered(), editor.NORTH .. ':22')

-- So are the findings.
local fixed = vim.tbl_map(function(line)
  return (line:gsub('gloabl', 'global'))
end, vim.fn.readfile('site/lab/charts/keystone.yaml'))
local text = vim.fn.readfile('site/lab/charts/keystone.yaml')
vim.fn.writefile(fixed, 'site/lab/charts/keystone.yaml')
hovered()
editor.finds(lab, {})
vim.fn.writefile(text, 'site/lab/charts/keystone.yaml')
hovered()
editor.finds(lab, { '11:7 missing-parent' })
