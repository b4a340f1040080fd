-- A client that does not ask for findings gets them pushed.

local editor = require('editor')

local capabilities = vim.lsp.protocol.make_client_capabilities()
capabilities.textDocument.diagnostic = nil
vim.lsp.config('layercake', {
  before_init = function(params) params.capabilities = capabilities end,
})
editor.open(editor.VERSIONS, '    |horizon: registry')
editor.equal(editor.client().server_capabilities.diagnosticProvider, nil)
editor.type('yyp')
editor.finds(0, { '24:5 duplicate-key' })
editor.type('u')
editor.finds(0, {})
editor.type('yyp')
editor.finds(0, { '24:5 duplicate-key' })
-- The text on disk counts again.
vim.cmd('edit!')
editor.finds(0, {})
