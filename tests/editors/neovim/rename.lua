-- A document is renamed in all files, and nothing is saved.

local editor = require('editor')

local function all_findings()
  local codes = vim.tbl_map(function(found) return found.code end, vim.diagnostic.get())
  table.sort(codes)
  return codes
end

local function changed()
  local names = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].modified then table.insert(names, editor.name(buffer)) end
  end
  table.sort(names)
  return names
end

-- Neovim asks for the findings of a file that a rename opens once it is shown.
editor.open('site/lab/charts/keystone.yaml')
editor.finds(0, { '11:7 missing-parent' })
vim.cmd('split')
editor.open(editor.CLOUD, '  name: |keystone\n')
local before = all_findings()
vim.lsp.buf.rename('identity')
editor.becomes({
  'global/charts/chart-group.yaml',
  'site/lab/charts/keystone.yaml',
  'site/north/charts/keystone.yaml',
  'type/cloud/charts/keystone.yaml',
}, changed)
editor.has(editor.text(editor.buffer('global/charts/chart-group.yaml')), '    - identity\n    - horizon')
editor.becomes(before, all_findings)

-- Elsewhere, there is no name.
editor.go('api: |3')
local text = editor.text(0)
local notified
vim.notify = function(message) notified = message end
vim.lsp.buf.rename('identity')
editor.becomes('Nothing to rename', function() return notified end)
editor.equal(editor.text(0), text)
