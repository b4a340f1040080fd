-- Definitions, declarations, implementations, references, and links of documents.

local editor = require('editor')

local function lists(ask, expected)
  vim.fn.setqflist({}, 'r')
  ask()
  editor.becomes(expected, function() return editor.places(vim.fn.getqflist()) end)
  vim.cmd('cclose')
end

-- A single place: the cursor goes there.
editor.open(editor.NORTH, 'name: keystone-|cloud')
vim.lsp.buf.definition()
editor.becomes('type/cloud/charts/keystone.yaml:5:9', editor.cursor)

editor.open('global/charts/keystone.yaml', 'path: .images.|keystone')
lists(vim.lsp.buf.definition, {
  'global/config/software-versions.yaml:22:15',
  'global/config/software-versions.yaml:6:9',
  'site/west/config/software-versions.yaml:19:15',
  'site/west/config/software-versions.yaml:6:9',
})

editor.open(editor.NORTH, 'api: |5')
lists(vim.lsp.buf.declaration, {
  'global/charts/keystone.yaml:67:14',
  'type/cloud/charts/keystone.yaml:21:14',
})

editor.open(editor.CLOUD, 'api: |3')
vim.lsp.buf.implementation()
editor.becomes(editor.NORTH .. ':22:14', editor.cursor)

editor.open('global/charts/horizon.yaml', 'name: |horizon')
lists(function() vim.lsp.buf.references({ includeDeclaration = false }) end, {
  'global/charts/chart-group.yaml:15:7',
  'site/south/charts/horizon.yaml:6:3',
})
lists(vim.lsp.buf.references, {
  'global/charts/chart-group.yaml:15:7',
  'global/charts/horizon.yaml:5:9',
  'site/south/charts/horizon.yaml:6:3',
})

-- The type of a site is its files.
editor.open('site/west/site-definition.yaml', 'site_type: |cloud')
lists(vim.lsp.buf.definition, {
  'type/cloud/charts/keystone.yaml:1:1',
  'type/cloud/config/endpoints.yaml:1:1',
})
local document = vim.lsp.util.make_text_document_params()
local links = editor.ask('textDocument/documentLink', { textDocument = document })
editor.equal(#links, 1)
editor.equal(links[1].target, vim.uri_from_fname(vim.fn.getcwd() .. '/type/cloud'))
editor.equal(links[1].range.start, { line = 10, character = 13 })
