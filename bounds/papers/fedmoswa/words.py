"""Symbols of this paper's claims beyond the common language: states of its methods, heterogeneity over all of R^dim."""

from bounds.language.names import symbol

__all__ = ["client_variate", "server_variate", "sigma_g", "sigma_g_2", "sigma_g_client"]

client_variate = symbol("client_variate")  # client_variate[r, k]: control variate of client k before round r
server_variate = symbol("server_variate")  # server_variate[r]: the server's variate before round r
sigma_g = symbol("sigma_g")  # sup over v of the clients' mean of |grad F_k(v) - grad F(v)|
sigma_g_2 = symbol("sigma_g_2")  # root of sup over v of the mean of its square
sigma_g_client = symbol("sigma_g_client")  # [k]: sup over v of |grad F_k(v) - grad F(v)|
