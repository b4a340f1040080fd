-- Users and used documents; parents and children.

local editor = require('editor')

-- Neovim shows the lines of outgoing calls in the wrong file, so only files are compared.
local function lists(ask, expected)
  vim.fn.setqflist({}, 'r')
  editor.open(editor.CLOUD, '  name: |keystone\n')
  ask()
  editor.becomes(expected, function()
    local files = vim.tbl_map(function(item) return editor.name(item.bufnr) end, vim.fn.getqflist())
    table.sort(files)
    return files
  end)
  vim.cmd('cclose')
end

lists(vim.lsp.buf.incoming_calls, {
  'global/charts/chart-group.yaml',
  'site/north/charts/keystone.yaml',
  'site/north/charts/keystone.yaml',
})
lists(vim.lsp.buf.outgoing_calls, {
  'global/charts/keystone.yaml',
  'global/layering-policy.yaml',
})
lists(function() vim.lsp.buf.typehierarchy('supertypes') end, { 'global/charts/keystone.yaml' })
lists(function() vim.lsp.buf.typehierarchy('subtypes') end, { 'site/north/charts/keystone.yaml' })
