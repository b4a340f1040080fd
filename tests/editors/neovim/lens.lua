-- The lens over a document: its text, its command, and what follows an edit.

local editor = require('editor')

local function titles()
  return vim.tbl_map(function(lens)
    return ('%d: %s'):format(lens.range.start.line + 1, lens.command and lens.command.title or '')
  end, vim.lsp.codelens.get(0))
end

editor.open('global/charts/keystone.yaml')
vim.lsp.codelens.refresh({ bufnr = 0 })
local title = '1: reaches 3 outputs in 3 sites, all deployed · shielded in lab'
editor.becomes({ title }, titles)

local outputs
vim.lsp.handlers['workspace/executeCommand'] = function(_, result) outputs = result end
vim.fn.cursor(1, 1)
vim.lsp.codelens.run()
editor.wait('outputs', function() return outputs end)
local items = vim.lsp.util.locations_to_items(outputs, editor.client().offset_encoding)
local places = vim.tbl_map(function(item)
  return ('%s:%d:%d'):format(vim.fn.fnamemodify(item.filename, ':.'), item.lnum, item.col)
end, items)
editor.equal(places, { 'site/north/charts/keystone.yaml:7:9', 'type/cloud/charts/keystone.yaml:5:9' })

editor.go('api: |1')
editor.type('r2')
vim.lsp.codelens.refresh({ bufnr = 0 })
editor.becomes({ title .. ' · changed since HEAD' }, titles)
