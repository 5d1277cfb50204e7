"""Symbols of this paper's claims beyond the common language: the methods' states before round r, also in the coupled run."""

from bounds.language.names import symbol

__all__ = ["client_dual", "server_duals", "server_x_bar", "twin_server_duals", "twin_server_x_bar"]

server_duals = symbol("server_duals")  # [r, k]: dual of client k, which the server of A-FedPD keeps
server_x_bar = symbol("server_x_bar")  # [r]: A-FedPD's average of the active local models of the round before
client_dual = symbol("client_dual")  # [r, k]: dual that client k of FedPD, FedADMM or FedDyn keeps
twin_server_duals = symbol("twin_server_duals")  # [r, k], as server_duals
twin_server_x_bar = symbol("twin_server_x_bar")  # [r], as server_x_bar
