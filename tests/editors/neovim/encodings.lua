-- Places behind a character outside of the Basic Multilingual Plane, in each encoding of places.

local editor = require('editor')

for _, encoding in ipairs({ 'utf-8', 'utf-16', 'utf-32' }) do
  vim.lsp.enable('layercake', false)
  vim.lsp.config('layercake', { capabilities = { general = { positionEncodings = { encoding } } } })
  vim.lsp.enable('layercake')
  editor.open(editor.CLOUD, 'api: |3')
  local client = editor.client()
  editor.equal(client.offset_encoding, encoding)
  editor.type('o"🍎é": {a: 1, b: 2, b: 3}<Esc>')
  editor.finds(0, { '22:32 duplicate-key' })
  -- The server applies edits in that encoding.
  editor.go('b: 2, |b')
  editor.type('rc')
  editor.finds(0, {})
  editor.type('2u')
  vim.lsp.stop_client(client.id)
  editor.wait('end', function() return #vim.lsp.get_clients() == 0 end)
end
